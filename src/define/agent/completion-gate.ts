import { z } from 'zod';
import type { JsonValue, Message } from '../../contracts/schemas/message.js';

/** Argument of a completion gate: an answer that would end the run. */
export interface CompletionContext {
  /** Id of the run. */
  readonly runId: string;
  /** Name of the agent. */
  readonly agent: string;
  /** Turn of the answer, from 1. */
  readonly turn: number;
  /** Text of the answer, which would be the run's output. */
  readonly output: string;
  /** JSON of the answer, when the run has an `outputSchema`. It matches the schema. */
  readonly structured?: JsonValue;
  /** A copy of the whole transcript. The answer is its last message. */
  readonly messages: readonly Message[];
  /** Absolute path of the run's workspace. Absent without a workspace. */
  readonly workspace?: string;
  /** Aborted after the time limit of 10 s, and when the run is stopped. */
  readonly signal: AbortSignal;
}

/** Decision of a completion gate: accept the answer, or correct the model with a text. */
export const CompletionDecision = z.union([
  z.strictObject({ accept: z.literal(true) }),
  z.strictObject({ accept: z.literal(false), correction: z.string().min(1) }),
]);
export type CompletionDecision = z.infer<typeof CompletionDecision>;

/**
 * A function of an agent that validates an answer before it is accepted.
 *
 * Contract: an activity calls it after the built-in checks and the output schema. It may be called again for the same answer when a
 * worker is lost. It fails closed: a function that throws, exceeds its time limit or returns anything else rejects the answer, and the
 * model sees the reason. After `completion.attemptsMax` corrections in a row the answer is accepted without a further call.
 */
export type CompletionGate = (context: CompletionContext) => Promise<CompletionDecision> | CompletionDecision;

/** The schema of a completion gate: a function. */
export const CompletionGateFunction = z.custom<CompletionGate>((value) => typeof value === 'function', 'a function of the context');
