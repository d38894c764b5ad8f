import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition and gives what it returned; fails after `timeoutMs` saying what was waited for. */
export async function until(look, what, timeoutMs = 60_000) {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await pause(10);
  }
}
