import { z } from 'zod';

/** Tokens used. `inputTokens` includes cache reads and writes for every provider; reasoning is part of output. */
export const Usage = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  reasoningTokens: z.number(),
  /** Of the input, pictures; absent where the server does not count them apart. */
  imageTokens: z.number().exactOptional(),
});
export type Usage = z.infer<typeof Usage>;

const Rates = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheRead: z.number().nonnegative().optional(),
  cacheWrite: z.number().nonnegative().optional(),
  /** Where thinking is paid apart from other output. */
  reasoning: z.number().nonnegative().optional(),
  /** Images of the request, where they are paid apart from other input. */
  image: z.number().nonnegative().optional(),
});

/** Prices in USD per million tokens. A missing cache or image price counts as the input price, a missing reasoning price as the output's. */
export const ModelPrice = z.strictObject({
  ...Rates.shape,
  /** What the whole of a call costs, answer included, whose input is longer than `aboveTokens`. */
  longPrompt: z.strictObject({ aboveTokens: z.number().int().positive(), ...Rates.shape }).optional(),
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
