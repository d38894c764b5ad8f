import type { CarriedState, CompactionMemory, LoopMemory, WorkRecord } from './schemas/carried-state.js';

/** Initial work record: no work done. */
export const NO_WORK: WorkRecord = {
  calls: 0,
  openSteps: [],
  unverified: [],
  phases: [],
  versionControlFailed: false,
  reading: { turns: 0, reads: [] },
  told: { verify: false, readingTurns: 0, sameRead: false },
};

/** Initial memory of the loop guard: empty. */
export const NO_LOOPS: LoopMemory = { turns: [] };

/** Initial memory of compaction: no compaction so far. */
export const NOT_COMPACTED: CompactionMemory = { latchedUntil: 0, count: 0, failures: 0 };

/** The counters of a run before its first turn. */
export const NO_COUNTERS: CarriedState['counters'] = {
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
