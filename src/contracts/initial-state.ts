import type { WorkRecord } from './work-record.js';

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
