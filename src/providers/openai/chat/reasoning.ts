import { z } from 'zod';
import type { ToolCallPart } from '../../../contracts/schemas/message.js';
import { readOpaque } from '../../contract/json-object.js';

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

/** Where Gemini's signature stands in chat completions: https://ai.google.dev/gemini-api/docs/thought-signatures */
const Signed = z.object({ extra_content: z.object({ google: z.object({ thought_signature: z.string().min(1) }) }) });

/** What `opaque` of a call holds for this format. */
const SignedCall = z.strictObject({ thoughtSignature: z.string() });

/** The server's own word for a call that another model made, or that lost its signature. */
const UNSIGNED = 'skip_thought_signature_validator';
/** They take signatures, and miss none. */
const MODELS_BEFORE_3 = /\bgemini-[12]\b/u;

/** The signature in a piece of an answer, or in one of its calls; undefined for one without. Never throws. */
export function signatureIn(piece: object): string | undefined {
  if (!('extra_content' in piece)) return undefined;
  return Signed.safeParse(piece).data?.extra_content.google.thought_signature;
}

/** A call with the signature that it must be sent back with. */
export function signedCall(call: ToolCallPart, signature: string | undefined): ToolCallPart {
  if (signature === undefined) return call;
  const opaque: z.infer<typeof SignedCall> = { thoughtSignature: signature };
  return { ...call, opaque: JSON.stringify(opaque) };
}

/**
 * What goes back with a call: its own signature, and none that another provider made. Of the calls of one answer the server signs, and
 * misses, only the first. Never throws.
 */
export function signatureFields(call: ToolCallPart, { isFirst, model }: { readonly isFirst: boolean; readonly model: string }): object {
  const missed = isFirst && !MODELS_BEFORE_3.test(model) ? UNSIGNED : undefined;
  const signature = callSignature(call) ?? missed;
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

function callSignature({ opaque }: ToolCallPart): string | undefined {
  return readOpaque(SignedCall, opaque)?.thoughtSignature;
}
