import type { RedactedThinkingBlockParam, ThinkingBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { ThinkingPart } from '../../contracts/schemas/message.js';
import { readOpaque } from '../contract/json-object.js';
import type { PrefixDigest } from '../transcript/prefix-digest.js';

const MadeBy = {
  /** The model that thought; absent in transcripts of older versions. */
  model: z.string().optional(),
  /** The digest of all that the model had read; absent where nobody checks that it reads the same again. */
  after: z.string().optional(),
};

/** What `opaque` of a thinking part holds for this format: the signature, or the whole of a redacted block, and what they hold for. */
const AnthropicThinking = z.union([
  z.strictObject({ signature: z.string(), ...MadeBy }),
  z.strictObject({ redacted: z.string(), ...MadeBy }),
]);
type AnthropicThinking = z.infer<typeof AnthropicThinking>;

type SentThinking = ThinkingBlockParam | RedactedThinkingBlockParam;

interface Thought {
  readonly model: string | undefined;
  readonly after: string | undefined;
  readonly block: SentThinking;
}

/** What was read of parts, for as long as anybody holds them: a transcript is sent many times. */
const known = new WeakMap<ThinkingPart, Thought | undefined>();

/** Where a thinking block is to stand: the model that will read it, and all that stands before it. */
export interface ThinkingPlace {
  readonly model: string;
  readonly prefix: PrefixDigest;
}

/**
 * The block to send back unchanged; none where it can not be: thinking of another provider or another model, unsigned thinking, and
 * thinking after which the transcript was changed. Newer models refuse a block whose system prompt, tools or messages before it are
 * not those under which it was made (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking).
 */
export function thinkingBlock(part: ThinkingPart, { model, prefix }: ThinkingPlace): readonly SentThinking[] {
  const thought = known.get(part) ?? readThought(part);
  known.set(part, thought);
  if (!thought || (thought.model ?? model) !== model) return [];
  return thought.after === undefined || thought.after === prefix.digest() ? [thought.block] : [];
}

/** What is kept of a block beside its text, so that `thinkingBlock` can make it again. */
export function opaqueThinking(opaque: AnthropicThinking): string {
  return JSON.stringify(opaque);
}

/** Undefined for what this format did not write. */
function readThought({ text, opaque: written }: ThinkingPart): Thought | undefined {
  const opaque = readOpaque(AnthropicThinking, written);
  if (!opaque) return undefined;
  const { model, after } = opaque;
  if ('redacted' in opaque) return { model, after, block: { type: 'redacted_thinking', data: opaque.redacted } };
  return { model, after, block: { type: 'thinking', thinking: text, signature: opaque.signature } };
}
