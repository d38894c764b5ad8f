import type { CompactionMemory, LoopMemory, WorkRecord } from './schemas/carried-state.js';

/** Nothing done yet. */
export const NO_WORK: WorkRecord = {
  calls: 0,
  openSteps: [],
  unverified: [],
  phases: [],
  versionControlFailed: false,
  reading: { turns: 0, reads: [] },
  told: { verify: false, readingTurns: 0, sameRead: false },
};

/** Nothing remembered yet. */
export const NO_LOOPS: LoopMemory = { turns: [] };

/** Not compacted yet. */
export const NOT_COMPACTED: CompactionMemory = { latchedUntil: 0, count: 0, failures: 0 };
