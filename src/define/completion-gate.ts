import { z } from 'zod';
import type { JsonValue, Message } from '../contracts/schemas/message.js';

/** The answer that a completion gate is asked about. */
export interface CompletionContext {
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  /** The answer's text, which would be the run's output. */
  readonly output: string;
  /** The answer's JSON, when the run has an `outputSchema`: it fits it already. */
  readonly structured?: JsonValue;
  /** The whole transcript; the answer is its last message. A copy: changing it changes nothing. */
  readonly messages: readonly Message[];
  /** Absolute path of the run's workspace, when it has one. */
  readonly workspace?: string;
  /** Aborted when the gate's time (10 s) is over, and when the run is stopped. */
  readonly signal: AbortSignal;
}

/** What it says: the run may end with this answer, or what the model is told instead. */
export const CompletionDecision = z.union([
  z.strictObject({ accept: z.literal(true) }),
  z.strictObject({ accept: z.literal(false), correction: z.string().min(1) }),
]);
export type CompletionDecision = z.infer<typeof CompletionDecision>;

/**
 * An agent's own look at an answer that would end its run.
 *
 * Contract: asked by an activity, after the output schema. It may be asked again about the same answer when a worker is lost. It fails
 * closed: one that throws, exceeds its time or says anything else does not accept, and the model reads why. After `attemptsMax` refusals
 * in a row it is not asked any more.
 */
export type CompletionGate = (context: CompletionContext) => Promise<CompletionDecision> | CompletionDecision;

/** A completion gate in a config: a function. */
export const CompletionGateFunction = z.custom<CompletionGate>((value) => typeof value === 'function', 'a function of the context');
