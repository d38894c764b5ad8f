import { z } from 'zod';
import { THINKING_LEVELS } from '../constants/thinking-levels.js';

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

/** A level of thinking. What each means is a model's affair; one that it does not have is refused or mapped to a near one. */
export const ThinkingLevel = z.enum(THINKING_LEVELS);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

/** How much a model is to think before it answers: a level, or tokens. */
export const ThinkingSetting = z.union([ThinkingLevel, z.number().int().min(1)]);
export type ThinkingSetting = z.infer<typeof ThinkingSetting>;

/** What watchers see of thinking: nothing, a stream of its own, or text between tags within the answer's stream. The transcript keeps it. */
export const ThinkingOutput = z.enum(['suppressed', 'apart', 'included']);
export type ThinkingOutput = z.infer<typeof ThinkingOutput>;
