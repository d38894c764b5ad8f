import type { CompactionMemory } from './schemas/carried-state.js';

/** Not compacted yet. */
export const NOT_COMPACTED: CompactionMemory = { latchedUntil: 0, count: 0, failures: 0 };
