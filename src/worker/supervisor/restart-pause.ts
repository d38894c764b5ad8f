import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';

/**
 * The pause before a worker process is started again, in milliseconds: 0.2 s after the first failure in a row, then twice as long each
 * time, at most 10 s.
 *
 * A worker that crashes at its start must not use up the machine. One that crashed once must not keep its runs waiting.
 */
export function restartPauseMs(failures: number): number {
  return Math.min(HOSTING_LIMITS.restartMsMax, HOSTING_LIMITS.restartMsMin * 2 ** (failures - 1));
}

/** The number of failures in a row after one more. A worker that worked for a minute was healthy, so the count starts anew. */
export function countFailure(failures: number, workedMs: number | undefined): number {
  return workedMs !== undefined && workedMs >= HOSTING_LIMITS.healthyMs ? 1 : failures + 1;
}
