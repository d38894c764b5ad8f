import { z } from 'zod';

/** Tokens used. `inputTokens` includes cache reads and writes for every provider; reasoning is part of output. */
export const Usage = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  reasoningTokens: z.number(),
});
export type Usage = z.infer<typeof Usage>;

/** Prices in USD per million tokens. A missing cache price counts as the input price. */
export const ModelPrice = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheRead: z.number().nonnegative().optional(),
  cacheWrite: z.number().nonnegative().optional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/**
 * Why an answer ended: `end` (done), `tool_calls`, `length` (the output limit cut it), `refusal` (also a content filter),
 * `paused` (the provider wants its own answer sent back to go on).
 */
export const StopReason = z.enum(['end', 'tool_calls', 'length', 'refusal', 'paused']);
export type StopReason = z.infer<typeof StopReason>;

/** May the model call tools in this request? */
export type ToolChoice = 'auto' | 'none' | 'required';
