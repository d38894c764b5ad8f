import type { Reason } from '../../../contracts/schemas/run.js';

/** The facts for the decision. */
export interface StopFacts {
  readonly cancelRequested: boolean;
  readonly deadlineReached: boolean;
  readonly budgetSpent: boolean;
  /** Turns already taken. */
  readonly turn: number;
  readonly maxTurns: number;
}

/** Why no further turn may start; undefined when one may. A cancel comes before every limit. */
export function stopReason(facts: StopFacts): Extract<Reason, 'cancelled' | 'deadline' | 'budget' | 'max_turns'> | undefined {
  if (facts.cancelRequested) return 'cancelled';
  if (facts.deadlineReached) return 'deadline';
  if (facts.budgetSpent) return 'budget';
  if (facts.turn >= facts.maxTurns) return 'max_turns';
  return undefined;
}
