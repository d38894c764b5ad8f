import { z } from 'zod';
import { ModelPrice, ThinkingSetting, Usage } from './model.js';

/** How long a model may take. What is absent has the number of limits.ts. */
export const ModelTimes = z.strictObject({
  /** No bytes for this long: `Model.StreamIdle`. Thinking and pings are bytes. */
  idleMs: z.number().int().min(1_000).optional(),
  /** No first byte of the answer for this long: `Model.Timeout`. @default idleMs */
  firstByteMs: z.number().int().min(1_000).optional(),
  /** The whole call: `Model.Timeout`. Each candidate has its own. */
  totalMs: z.number().int().min(10_000).optional(),
});
export type ModelTimes = z.infer<typeof ModelTimes>;

/** A model that a run may ask: the first one, or a fallback. Everything about it was looked up when the run began. */
export const ModelCandidate = z.strictObject({
  /** `provider/model` */
  model: z.string(),
  /** References of the keys that may be used in turn, such as `env:OPENAI_API_KEY`; never their values. Empty: it needs none. */
  credentials: z.array(z.string()),
  contextWindow: z.number(),
  price: ModelPrice.optional(),
  /** What this model is told to think, as near to what was asked for as it can. */
  thinking: ThinkingSetting.optional(),
  times: ModelTimes.optional(),
});
export type ModelCandidate = z.infer<typeof ModelCandidate>;

/**
 * A model, or a key of its provider, that is left alone for a while. `key` is `model\ncredential` for what concerns one model, and
 * `provider\ncredential` for what concerns a key.
 */
export const Cooldown = z.strictObject({
  key: z.string(),
  /** Milliseconds since 1970. */
  until: z.number(),
  /** Failures in a row, each with a longer step. */
  failures: z.number().int(),
  /** The failure's type. */
  why: z.string(),
});
export type Cooldown = z.infer<typeof Cooldown>;

/** The run went from one model to another. */
export const ModelSwitch = z.strictObject({
  turn: z.number().int(),
  from: z.string(),
  to: z.string(),
  /** A failure's type, `cooled down` for a return, `asked for`, or `budget`: the one before was too dear for the final answer. */
  why: z.string(),
});
export type ModelSwitch = z.infer<typeof ModelSwitch>;

/** What one model of a run was used for. `costUsd` is absent while its price is unknown. */
export const ModelSpending = z.strictObject({
  model: z.string(),
  calls: z.number().int(),
  usage: Usage,
  costUsd: z.number().optional(),
});
export type ModelSpending = z.infer<typeof ModelSpending>;
