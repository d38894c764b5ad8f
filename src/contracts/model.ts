import { z } from 'zod';

/** Tokens used. `inputTokens` includes cache reads and writes for every provider; reasoning is part of output. */
export const Usage = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  reasoningTokens: z.number(),
  /** Of the input, pictures; absent where the server does not count them apart. */
  imageTokens: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** Nothing used yet. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(a.imageTokens === undefined && b.imageTokens === undefined ? {} : { imageTokens: (a.imageTokens ?? 0) + (b.imageTokens ?? 0) }),
  };
}

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

export { costOf } from './cost-of.js';

/**
 * Why an answer ended: `end` (done), `tool_calls`, `length` (the output limit cut it), `refusal` (also a content filter),
 * `paused` (the provider wants its own answer sent back to go on).
 */
export const StopReason = z.enum(['end', 'tool_calls', 'length', 'refusal', 'paused']);
export type StopReason = z.infer<typeof StopReason>;

/** May the model call tools in this request? */
export type ToolChoice = 'auto' | 'none' | 'required';

/** A model's name split at its first slash: `openai/gpt-x` → `openai`, `gpt-x`. */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** Splits `provider/model`; undefined when there is no provider or no model in it. Never throws. */
export function parseModelRef(text: string): ModelRef | undefined {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1) return undefined;
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}
