import { z } from 'zod';
import { ModelPrice, ThinkingSetting, Usage } from './model.js';

/** Timeouts of one model call, in milliseconds. Each attempt and each model of a run starts them anew. */
export const ModelTimes = z.strictObject({
  /** Longest time without a byte; then `Model.StreamIdle`. Thinking and pings count as bytes. @default 90 s, or `limits.modelIdleMs` */
  idleMs: z.number().int().min(1_000).optional(),
  /** Longest time to the first byte of the answer; then `Model.Timeout`. @default `idleMs` */
  firstByteMs: z.number().int().min(1_000).optional(),
  /** Longest time of the whole call; then `Model.Timeout`. @default 5 minutes */
  totalMs: z.number().int().min(10_000).optional(),
});
export type ModelTimes = z.infer<typeof ModelTimes>;

/** A model that a run may ask: the first one or a fallback. All of it is resolved when the run starts. */
export const ModelCandidate = z.strictObject({
  /** `provider/model` */
  model: z.string(),
  /** References of the keys, used in turn, such as `env:OPENAI_API_KEY`; never their values. Empty when the model needs no key. */
  credentials: z.array(z.string()),
  contextWindow: z.number(),
  price: ModelPrice.optional(),
  /** The requested thinking, mapped to the nearest setting that this model has. */
  thinking: ThinkingSetting.optional(),
  times: ModelTimes.optional(),
  /** The provider has limits, so a call may wait for a place. */
  limited: z.boolean().optional(),
});
export type ModelCandidate = z.infer<typeof ModelCandidate>;

/**
 * A cooldown of a model or of a provider's key. `key` is `model\ncredential` for a cooldown of one model, and `provider\ncredential` for
 * a cooldown of a key.
 */
export const Cooldown = z.strictObject({
  key: z.string(),
  /** End of the cooldown, in milliseconds since 1970. */
  until: z.number(),
  /** Failures in a row. Each one makes the cooldown longer. */
  failures: z.number().int(),
  /** Type of the last failure. */
  why: z.string(),
});
export type Cooldown = z.infer<typeof Cooldown>;

/** A change from one model to another within a run. */
export const ModelSwitch = z.strictObject({
  /** Turn of the change. */
  turn: z.number().int(),
  /** Model before the change. */
  from: z.string(),
  /** Model after the change. */
  to: z.string(),
  /** A failure type; or `cooled down` (a cooldown ended), `asked for` (by `/model`), `budget` (the previous model was too expensive). */
  why: z.string(),
});
export type ModelSwitch = z.infer<typeof ModelSwitch>;

/** Calls, usage and cost of one model of a run. */
export const ModelSpending = z.strictObject({
  /** `provider/model` */
  model: z.string(),
  /** Calls that returned an answer. */
  calls: z.number().int(),
  /** Usage of all calls, failed attempts included. */
  usage: Usage,
  /** Cost in USD. Absent when the price is unknown. */
  costUsd: z.number().optional(),
});
export type ModelSpending = z.infer<typeof ModelSpending>;
