import { z } from 'zod';
import { THINKING_LEVELS } from '../constants/thinking-levels.js';

/** Tokens of one or several model calls, counted the same way for every provider. */
export const Usage = z.strictObject({
  /** Input, cache reads and cache writes included. */
  inputTokens: z.number(),
  /** Output, thinking included. */
  outputTokens: z.number(),
  /** Input that was read from the provider's cache. */
  cacheReadTokens: z.number(),
  /** Input that was written to the provider's cache. */
  cacheWriteTokens: z.number(),
  /** Output that was thinking. */
  reasoningTokens: z.number(),
  /** Input that was images. Absent when the server does not count images separately. */
  imageTokens: z.number().exactOptional(),
});
export type Usage = z.infer<typeof Usage>;

const Rates = z.strictObject({
  /** Input. */
  input: z.number().nonnegative(),
  /** Output. */
  output: z.number().nonnegative(),
  /** Input that is read from the cache. @default `input` */
  cacheRead: z.number().nonnegative().optional(),
  /** Input that is written to the cache. @default `input` */
  cacheWrite: z.number().nonnegative().optional(),
  /** Thinking, where it has its own price. @default `output` */
  reasoning: z.number().nonnegative().optional(),
  /** Images of the request, where they have their own price. @default `input` */
  image: z.number().nonnegative().optional(),
});

/** Prices in USD per million tokens. */
export const ModelPrice = z.strictObject({
  ...Rates.shape,
  /** Prices of a call with more than `aboveTokens` tokens of input. They apply to the whole call, output included. */
  longPrompt: z.strictObject({ aboveTokens: z.number().int().positive(), ...Rates.shape }).optional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/**
 * Why an answer ended: `end` (complete), `tool_calls`, `length` (cut at the output limit), `refusal` (also a content filter),
 * `paused` (the provider expects its own answer back and then continues it).
 */
export const StopReason = z.enum(['end', 'tool_calls', 'length', 'refusal', 'paused']);
export type StopReason = z.infer<typeof StopReason>;

/** Whether the model may, must or must not call tools in this request. */
export type ToolChoice = 'auto' | 'none' | 'required';

/** A level of thinking. A level that the chosen model lacks is an error; a fallback uses its nearest level. */
export const ThinkingLevel = z.enum(THINKING_LEVELS);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

/** How much a model thinks before it answers: a level, or a number of tokens. */
export const ThinkingSetting = z.union([ThinkingLevel, z.number().int().min(1)]);
export type ThinkingSetting = z.infer<typeof ThinkingSetting>;

/**
 * How streams show thinking: `apart` in a stream of its own, `included` in the text between tags, `suppressed` not at all. The transcript
 * keeps it in any case.
 */
export const ThinkingOutput = z.enum(['suppressed', 'apart', 'included']);
export type ThinkingOutput = z.infer<typeof ThinkingOutput>;
