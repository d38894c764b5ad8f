import { RUN_LIMITS } from '../../contracts/constants/limits.js';

/** How long to wait before a model that cannot be reached is asked again; undefined when its five minutes are over. */
export function unreachableBackoffMs(attempt: number, waitedMs: number): number | undefined {
  if (waitedMs >= RUN_LIMITS.modelUnreachableMsMax) return undefined;
  return Math.min(RUN_LIMITS.modelUnreachableBackoffMsMax, RUN_LIMITS.modelUnreachableBackoffMsMin * 2 ** (attempt - 1));
}
