import type { Message } from '../../../contracts/schemas/message.js';
import type { RunResult, SteerRecord } from '../../../contracts/schemas/run.js';
import type { EffectRecord } from '../child/effect-log.js';
import type { ToolFacts } from '../child/protocol.js';

/** A message that the harness sent to a run. */
export interface SentMessage {
  readonly id: string;
  /** True if the server (signal) or the run (update) has acknowledged it. */
  readonly acknowledged: boolean;
}

/** One execution of a run. A run that continues as new has several. */
export interface ExecutionFacts {
  readonly executionId: string;
  /** The failed workflow tasks of its history, one line each. */
  readonly failedTasks: readonly string[];
}

/** All that is known of a run after the faults stopped. */
export interface Evidence {
  readonly runId: string;
  /** Absent for a run that did not end in time. */
  readonly result?: RunResult;
  /** The result as Temporal's own client reads it, or why it could not. */
  readonly plainResult?: { readonly reason: string } | { readonly error: string };
  /** Time in which the run had to end after the last fault, in milliseconds. */
  readonly endsWithinMs: number;
  readonly transcript: readonly Message[];
  readonly steers: readonly SteerRecord[];
  readonly sent: readonly SentMessage[];
  readonly effects: readonly EffectRecord[];
  readonly executions: readonly ExecutionFacts[];
  readonly tools: readonly ToolFacts[];
  /** Number of effects by idempotency key, as the caller counts them. Absent without a counter. */
  readonly counted?: ReadonlyMap<string, number>;
  /** Reasons of a run's end that are right for this agent. */
  readonly reasons: readonly string[];
  /** Worker processes that ended by themselves, one line each. */
  readonly surprises: readonly string[];
  /** Questions about the run that had no answer, one line each. */
  readonly unanswered: readonly string[];
}

/** What a check found. `doubled`, `lost` and `hung` are counted in the report. */
export interface Finding {
  readonly kind: 'doubled' | 'lost' | 'hung' | 'broken';
  /** Name of the check. */
  readonly check: string;
  readonly message: string;
}

/** One promise about runs. Returns one finding for each violation. */
export type Check = (evidence: Evidence) => readonly Finding[];
