import { CONTINUE_AS_NEW_LIMITS } from '../../../contracts/constants/limits.js';

/** Where the history of this execution stands. */
export interface HistoryFacts {
  readonly suggested: boolean;
  readonly events: number;
  readonly bytes: number;
  readonly signals: number;
  readonly updates: number;
  /** A lower bound on events, asked for by the run's input. */
  readonly eventsMax: number | undefined;
}

/** True when the run should go on in a fresh history: the server suggests it, or one of our own, lower bounds is reached. */
export function historyIsLong(facts: HistoryFacts): boolean {
  return (
    facts.suggested ||
    facts.events >= (facts.eventsMax ?? CONTINUE_AS_NEW_LIMITS.eventsMax) ||
    facts.bytes >= CONTINUE_AS_NEW_LIMITS.historyBytesMax ||
    facts.signals >= CONTINUE_AS_NEW_LIMITS.signalsMax ||
    facts.updates >= CONTINUE_AS_NEW_LIMITS.updatesMax
  );
}
