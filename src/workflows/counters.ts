import type { CarriedState } from '../contracts/schemas/carried-state.js';

/** What a run counts: turns and calls over the whole run, recoveries in a row (a good turn sets them back). */
export type Counters = CarriedState['counters'];

/** The counters of a run that begins. */
export function newCounters(): Counters {
  return {
    turn: 0,
    toolCalls: 0,
    corrections: 0,
    truncatedAnswers: 0,
    pausedAnswers: 0,
    emptyAnswers: 0,
    badJson: 0,
    emptyStreams: 0,
    thinking: 0,
    gateAttempts: 0,
    schemaAttempts: 0,
    qualityCorrections: 0,
    steers: 0,
  };
}
