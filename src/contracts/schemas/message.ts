import { z } from 'zod';

/** Any JSON value: what tool arguments and details are made of. */
export const JsonValue = z.json();
export type JsonValue = z.infer<typeof JsonValue>;

/** Plain text. */
export const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() });
export type TextPart = z.infer<typeof TextPart>;

/** A model's reasoning. `opaque` is a provider's signed or encrypted form, sent back unchanged. */
export const ThinkingPart = z.strictObject({ type: z.literal('thinking'), text: z.string(), opaque: z.string().optional() });
export type ThinkingPart = z.infer<typeof ThinkingPart>;

/**
 * A call the model asks for. `callId` is ours (a provider's ids are not unique); `argsText` holds what was sent when it is no JSON object;
 * `opaque` is what a provider signs its calls with, sent back unchanged.
 */
export const ToolCallPart = z.strictObject({
  type: z.literal('tool_call'),
  callId: z.string(),
  name: z.string(),
  args: JsonValue,
  argsText: z.string().optional(),
  opaque: z.string().optional(),
});
export type ToolCallPart = z.infer<typeof ToolCallPart>;

/** A file by reference or by value. */
export const FilePart = z.strictObject({
  type: z.literal('file'),
  mime: z.string(),
  ref: z.string().optional(),
  dataBase64: z.string().optional(),
});
export type FilePart = z.infer<typeof FilePart>;

/** A large output kept beside the transcript; `head` is its beginning, for readers. */
export const ArtifactPart = z.strictObject({ type: z.literal('artifact'), ref: z.string(), bytes: z.number(), head: z.string() });
export type ArtifactPart = z.infer<typeof ArtifactPart>;

/** What a tool may answer with. */
export const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart, ArtifactPart]);
export type ContentPart = z.infer<typeof ContentPart>;

/** The one answer to a tool call. */
export const ToolResultPart = z.strictObject({
  type: z.literal('tool_result'),
  callId: z.string(),
  isError: z.boolean(),
  parts: z.array(ContentPart),
});
export type ToolResultPart = z.infer<typeof ToolResultPart>;

/** One piece of a message, discriminated by `type`. */
export const Part = z.discriminatedUnion('type', [TextPart, ThinkingPart, ToolCallPart, ToolResultPart, FilePart, ArtifactPart]);
export type Part = z.infer<typeof Part>;

/** One message of the transcript. System prompts are not messages: they are the run's setup. */
export const Message = z.strictObject({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'tool']),
  parts: z.array(Part),
  origin: z.enum(['steer', 'nudge', 'correction', 'summary']).optional(),
  turn: z.number().int().optional(),
  partial: z.boolean().optional(),
});
export type Message = z.infer<typeof Message>;

/** A system message of another system's transcript. What it says goes into the run's prompt: our transcripts have none. */
export const SystemMessage = z.strictObject({ id: z.string().optional(), role: z.literal('system'), parts: z.array(TextPart) });
export type SystemMessage = z.infer<typeof SystemMessage>;

/** One message of a transcript that a run is given to begin with. */
export const GivenMessage = z.discriminatedUnion('role', [Message, SystemMessage]);
export type GivenMessage = z.infer<typeof GivenMessage>;
