import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { ExtendInput } from '../../contracts/schemas/run.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

const NAMES = ['turns', 'tokens', 'costUsd', 'deadlineMs'] as const;

/**
 * Refuses what update `extend` may not do, from whatever client it comes: only caps that the run has can be raised, only while it
 * is going on, and never above what a run may be started with. Throws `Input.Invalid`; an accepted extension always has its effect.
 */
export function checkExtension(run: Run, by: ExtendInput): void {
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  if (run.isEnding) throw inputFailure('RUN_ENDING: the run is giving its last answer; continue it with fresh caps when it has ended');
  for (const name of NAMES) {
    const value = by[name];
    if (value === undefined) continue;
    const { present, most } = capOf(run, name);
    if (present === undefined) throw inputFailure(`BAD_OPTION: ${name}: this run has no such cap`);
    if (present + value > most) throw inputFailure(`BAD_OPTION: ${name}: the cap is at most ${most}`);
  }
}

/** A cap as it is, and the most that it may be. */
function capOf(run: Run, name: keyof ExtendInput): { readonly present: number | undefined; readonly most: number } {
  switch (name) {
    case 'turns':
      return { present: run.caps.maxTurns, most: RUN_LIMITS.maxTurnsMax };
    case 'tokens':
      return { present: run.caps.maxTokens, most: Number.MAX_SAFE_INTEGER };
    case 'costUsd':
      return { present: run.caps.maxCostUsd, most: Number.MAX_SAFE_INTEGER };
    case 'deadlineMs':
      return { present: run.clock.deadlineMs, most: RUN_LIMITS.deadlineMsMax };
  }
}

/** What to send with update `extend` to a run whose caps are spent: of each that is, as much again, within what a run may have. */
export function suggestExtension(run: Run): ExtendInput {
  return Object.fromEntries(
    run.spentCaps().map((name) => {
      const { present = 0, most } = capOf(run, name);
      return [name, Math.min(present, most - present)];
    }),
  );
}
