import { setTimeout as pause } from 'node:timers/promises';
import { type RecoveryOptions, recoverDeadWorkers } from './recovery/recover-dead-workers.js';

/** Pauses between the looks after the first one. */
const LOOK_AGAIN_AFTER_MS = [500, 1_500, 5_000, 15_000];
/** Visibility has long caught up by then. */
const FORGET_FROM_LOOK = 2;

/**
 * Looks again for what dead workers left, since visibility may lag behind their last moments, until their records are
 * forgotten. Runs beside the new worker: only what is proved to belong to a dead one is touched. Ends early when `signal`
 * aborts, and never rejects: a look that fails is logged, and the records stay for the next process.
 */
export async function recoverAgain(options: Omit<RecoveryOptions, 'forget'>, signal: AbortSignal): Promise<void> {
  try {
    for (const [look, afterMs] of LOOK_AGAIN_AFTER_MS.entries()) {
      await pause(afterMs, undefined, { signal });
      const { remembered } = await recoverDeadWorkers({ ...options, forget: look >= FORGET_FROM_LOOK });
      if (remembered === 0) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    options.log(`looking for calls of dead workers failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
