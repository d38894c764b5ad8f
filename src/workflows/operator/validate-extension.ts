import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { ExtendInput } from '../../contracts/schemas/run.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

const NAMES = ['turns', 'tokens', 'costUsd', 'deadlineMs'] as const;

/**
 * Validates update `extend` from any client. Only limits that the run has can be raised, only while it runs, and never above the maximum
 * of a new run. Throws `Input.Invalid`. An accepted extension always takes effect.
 */
export function checkExtension(run: Run, by: ExtendInput): void {
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  if (run.isEnding) throw inputFailure('RUN_ENDING: the run is already ending. After it has ended, continue it with new limits.');
  for (const name of NAMES) {
    const value = by[name];
    if (value === undefined) continue;
    const { current, most } = capOf(run, name);
    if (current === undefined) throw inputFailure(`BAD_OPTION: ${name}: this run has no such limit`);
    if (current + value > most) throw inputFailure(`BAD_OPTION: ${name}: the limit can be at most ${most}`);
  }
}

/** The current value of a limit, and its maximum. */
function capOf(run: Run, name: keyof ExtendInput): { readonly current: number | undefined; readonly most: number } {
  switch (name) {
    case 'turns':
      return { current: run.caps.maxTurns, most: RUN_LIMITS.maxTurnsMax };
    case 'tokens':
      return { current: run.caps.maxTokens, most: Number.MAX_SAFE_INTEGER };
    case 'costUsd':
      return { current: run.caps.maxCostUsd, most: Number.MAX_SAFE_INTEGER };
    case 'deadlineMs':
      return { current: run.clock.deadlineMs, most: RUN_LIMITS.deadlineMsMax };
  }
}

/** The suggested input of update `extend`: doubles each spent limit, up to its maximum. */
export function suggestExtension(run: Run): ExtendInput {
  return Object.fromEntries(
    run.spentCaps().map((name) => {
      const { current = 0, most } = capOf(run, name);
      return [name, Math.min(current, most - current)];
    }),
  );
}
