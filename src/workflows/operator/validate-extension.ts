import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { ExtendInput } from '../../contracts/schemas/run.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

const NAMES = ['turns', 'tokens', 'costUsd', 'deadlineMs'] as const;

/**
 * Refuses what update `extend` may not do, from whatever client it comes: only caps that the run has can be raised, only while it
 * is going on, and never above what a run may be started with. Throws `Input.Invalid`; an accepted extension always has its effect.
 */
export function checkExtension(run: Run, input: unknown): asserts input is ExtendInput {
  if (run.result) throw inputFailure(`RUN_CLOSED: the run already ended: ${run.result.reason}`);
  if (run.isEnding) throw inputFailure('RUN_ENDING: the run is giving its last answer; continue it with fresh caps when it has ended');
  if (input === null || typeof input !== 'object') throw inputFailure('BAD_OPTION extend: an object like {"turns": 10}');
  const given = Object.entries(input);
  if (given.length === 0) throw inputFailure(`BAD_OPTION extend: give at least one of ${NAMES.join(', ')}`);
  for (const [name, value] of given) checkOne(run, name, value);
}

function checkOne(run: Run, given: string, value: unknown): void {
  const name = NAMES.find((known) => known === given);
  if (name === undefined) throw inputFailure(`UNKNOWN_OPTION ${given.slice(0, 80)}`);
  const isWhole = name === 'costUsd' || Number.isInteger(value);
  if (typeof value !== 'number' || !isWhole || !(value > 0)) {
    throw inputFailure(`BAD_OPTION ${name}: ${name === 'costUsd' ? 'a number' : 'an integer'} above 0`);
  }
  const { present, most } = capOf(run, name);
  if (present === undefined) throw inputFailure(`BAD_OPTION ${name}: this run has no such cap`);
  if (present + value > most) throw inputFailure(`BAD_OPTION ${name}: the cap is at most ${most}`);
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
