import type { LoopMemory } from './carried-state.js';

/** Nothing remembered yet. */
export const NO_LOOPS: LoopMemory = { turns: [] };
