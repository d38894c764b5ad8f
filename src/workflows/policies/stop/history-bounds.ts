import { CONTINUE_AS_NEW_LIMITS } from '../../../contracts/constants/limits.js';

/** The size of this execution's history. */
export interface HistoryFacts {
  readonly suggested: boolean;
  readonly events: number;
  readonly bytes: number;
  readonly signals: number;
  readonly updates: number;
  /** A lower limit of events from the run's input. */
  readonly eventsMax: number | undefined;
  /** A lower limit of signals from the run's input. */
  readonly signalsMax?: number | undefined;
}

/** True when the run should continue as new: the server suggests it, or one of the lower limits here is reached. */
export function historyIsLong(facts: HistoryFacts): boolean {
  return (
    facts.suggested ||
    facts.events >= (facts.eventsMax ?? CONTINUE_AS_NEW_LIMITS.eventsMax) ||
    facts.bytes >= CONTINUE_AS_NEW_LIMITS.historyBytesMax ||
    hasManyMessages(facts)
  );
}

/** True when so many signals or updates arrived that the server will soon refuse more. */
export function hasManyMessages({
  signals,
  updates,
  signalsMax = CONTINUE_AS_NEW_LIMITS.signalsMax,
}: Pick<HistoryFacts, 'signals' | 'updates' | 'signalsMax'>): boolean {
  return signals >= signalsMax || updates >= CONTINUE_AS_NEW_LIMITS.updatesMax;
}
