import { z } from 'zod';
import type { ToolCallPart } from '../../contracts/schemas/message.js';
import { readOpaque } from '../transcript/opaque.js';

/** Reasoning behind a call, in OpenRouter's words: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens */
const ReasoningDetail = z.record(z.string(), z.json()).and(
  z.object({
    type: z.literal('reasoning.encrypted'),
    /** Of the call. */
    id: z.string().min(1),
    data: z.string().min(1),
  }),
);

/** What cannot be read, but must come back with its call. */
export type ReasoningDetail = z.infer<typeof ReasoningDetail>;

/** What `opaque` of a call holds for this format. */
const DetailedCall = z.strictObject({ reasoningDetails: z.array(ReasoningDetail).min(1) });

/** The encrypted reasoning in a piece of an answer. Never throws. */
export function reasoningDetailsIn(delta: object): readonly ReasoningDetail[] {
  const details: unknown = Reflect.get(delta, 'reasoning_details');
  return Array.isArray(details) ? details.flatMap((detail) => ReasoningDetail.safeParse(detail).data ?? []) : [];
}

/** A call, as its server named it, with the reasoning that it must be sent back with. */
export function detailedCall(call: ToolCallPart, details: readonly ReasoningDetail[]): ToolCallPart {
  const reasoningDetails = details.filter(({ id }) => id === call.callId);
  return reasoningDetails.length === 0 ? call : { ...call, opaque: JSON.stringify({ reasoningDetails }) };
}

/** What goes with an answer beside its calls: their own reasoning, under the ids that they are sent with. Never throws. */
export function reasoningDetailsFields(calls: readonly ToolCallPart[], idOf: (callId: string) => string): object {
  const details = calls.flatMap(({ callId, opaque }) => {
    const kept = readOpaque(DetailedCall, opaque)?.reasoningDetails ?? [];
    return kept.map((detail) => ({ ...detail, id: idOf(callId) }));
  });
  return details.length === 0 ? {} : { reasoning_details: details };
}
