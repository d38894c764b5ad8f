import { z } from 'zod';

/** Any JSON value: the type of tool arguments and of details. */
export const JsonValue = z.json();
export type JsonValue = z.infer<typeof JsonValue>;

/** A text part of a message. */
export const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() });
export type TextPart = z.infer<typeof TextPart>;

/** Reasoning of a model. `opaque` is the provider's signed or encrypted form, sent back unchanged. */
export const ThinkingPart = z.strictObject({ type: z.literal('thinking'), text: z.string(), opaque: z.string().optional() });
export type ThinkingPart = z.infer<typeof ThinkingPart>;

/**
 * A tool call of the model. `callId` is made by Perdure, because ids of providers are not unique. `argsText` is the text that the model
 * sent when it is not a JSON object. `opaque` is the provider's signature of the call, sent back unchanged.
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

/** A file, by reference (`ref`) or by value (`dataBase64`). */
export const FilePart = z.strictObject({
  type: z.literal('file'),
  mime: z.string(),
  ref: z.string().optional(),
  dataBase64: z.string().optional(),
});
export type FilePart = z.infer<typeof FilePart>;

/** A large output that is stored outside the transcript. `head` is the beginning of its text. */
export const ArtifactPart = z.strictObject({ type: z.literal('artifact'), ref: z.string(), bytes: z.number(), head: z.string() });
export type ArtifactPart = z.infer<typeof ArtifactPart>;

/** A part that a tool may return. */
export const ContentPart = z.discriminatedUnion('type', [TextPart, FilePart, ArtifactPart]);
export type ContentPart = z.infer<typeof ContentPart>;

/** The result of a tool call. Each call has exactly one. */
export const ToolResultPart = z.strictObject({
  type: z.literal('tool_result'),
  callId: z.string(),
  isError: z.boolean(),
  parts: z.array(ContentPart),
});
export type ToolResultPart = z.infer<typeof ToolResultPart>;

/** One part of a message, discriminated by `type`. */
export const Part = z.discriminatedUnion('type', [TextPart, ThinkingPart, ToolCallPart, ToolResultPart, FilePart, ArtifactPart]);
export type Part = z.infer<typeof Part>;

/** One message of the transcript. The system prompt is not a message: it is part of the run's setup. */
export const Message = z.strictObject({
  /** Id of the message, unique in the transcript. */
  id: z.string(),
  /** Author: you or Perdure (`user`), the model (`assistant`), or a tool. */
  role: z.enum(['user', 'assistant', 'tool']),
  /** Contents of the message. */
  parts: z.array(Part),
  /** Kind of a `user` message that is not the task: a steered message, a warning, a correction, a summary, or a sub-agent's result. */
  origin: z.enum(['steer', 'nudge', 'correction', 'summary', 'subagent']).optional(),
  /** Turn in which the message was added. */
  turn: z.number().int().optional(),
  /** True for an answer that was aborted: its text is incomplete. */
  partial: z.boolean().optional(),
});
export type Message = z.infer<typeof Message>;

/** A system message of an imported transcript. Its text is added to the run's prompt: transcripts of runs have no system messages. */
export const SystemMessage = z.strictObject({ id: z.string().optional(), role: z.literal('system'), parts: z.array(TextPart) });
export type SystemMessage = z.infer<typeof SystemMessage>;

/** One message of the transcript that a run starts with (`messages` of its input). */
export const GivenMessage = z.discriminatedUnion('role', [Message, SystemMessage]);
export type GivenMessage = z.infer<typeof GivenMessage>;
