import type { LoopMemory } from './schemas/carried-state.js';

/** Nothing remembered yet. */
export const NO_LOOPS: LoopMemory = { turns: [] };
