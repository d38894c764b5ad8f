import { setTimeout as delay } from 'node:timers/promises';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';

/**
 * Repeats a request while no worker answers or the server is away, until the signal aborts. The request must have one effect, however often it
 * is sent. Throws any other error, and that of the last attempt once the signal aborted.
 */
export async function patiently<Answer>(ask: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !(error instanceof PerdureError) || !AWAY.has(error.code)) throw error;
      await pause(signal);
    }
  }
}

/** Waits a moment, or until the signal aborts. */
export async function pause(signal: AbortSignal, ms: number = SESSION_LIMITS.followEveryMs): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

const AWAY: ReadonlySet<string> = new Set(['NO_WORKER', 'TEMPORAL_UNREACHABLE']);
