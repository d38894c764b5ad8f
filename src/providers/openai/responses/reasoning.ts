import { createHash } from 'node:crypto';
import type { ResponseReasoningItem } from 'openai/resources/responses/responses';
import { z } from 'zod';
import type { ThinkingPart } from '../../../contracts/schemas/message.js';
import { readOpaque } from '../../contract/json-object.js';
import type { ProviderSettings } from '../../contract/provider.js';
import { streamText } from '../../http/read-stream.js';

/** An item that a reasoning item belongs to: the API takes the two only together. */
const Following = z.strictObject({ type: z.enum(['message', 'function_call']), id: z.string() });
export type Following = z.infer<typeof Following>;

/** What `opaque` of a thinking part holds for this format: a reasoning item, who can read it, and the item that came after it. */
const ResponsesThinking = z.strictObject({
  reasoning: z.strictObject({
    origin: z.string(),
    id: z.string(),
    encrypted_content: z.string(),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    following: Following.optional(),
  }),
});
type Reasoning = z.infer<typeof ResponsesThinking>['reasoning'];

/** A reasoning item as it is sent back, and the item that must follow it. */
export interface SentReasoning {
  readonly item: ResponseReasoningItem;
  readonly following: Following | undefined;
}

/**
 * Names a server and account: what one encrypted no other can read, and refuses. A few digits of a hash, so that two are told apart and
 * nothing is told of the key.
 */
export function reasoningOrigin({ baseUrl, apiKey }: Pick<ProviderSettings, 'baseUrl' | 'apiKey'>): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 8);
}

/** What a thinking part keeps of a reasoning item; undefined without its encrypted content: such an item can not be sent back. */
export function keptReasoning(
  { id, encrypted_content, summary }: ResponseReasoningItem,
  { origin, following }: { readonly origin: string; readonly following: Following | undefined },
): string | undefined {
  if (!id || !encrypted_content) return undefined;
  const texts = (summary ?? []).map(({ text }) => ({ type: 'summary_text' as const, text: streamText(text) }));
  const reasoning: Reasoning = { origin, id, encrypted_content, summary: texts, ...(following ? { following } : {}) };
  return JSON.stringify({ reasoning });
}

/** The reasoning item that a thinking part keeps; undefined for what another provider, or another account, made. Never throws. */
export function sentReasoning({ opaque }: ThinkingPart, origin: string): SentReasoning | undefined {
  const kept = readOpaque(ResponsesThinking, opaque)?.reasoning;
  if (kept?.origin !== origin) return undefined;
  const { id, encrypted_content, summary, following } = kept;
  return { item: { type: 'reasoning', id, encrypted_content, summary }, following };
}
