import type { Run } from './state/run.js';

/** True when a message waits for which calls that were not started are skipped. What runs goes on: a message cancels no call. */
export function isPreempted({ inbox }: Run): boolean {
  return inbox.preempting;
}
