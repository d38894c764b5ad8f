import { uptime } from 'node:os';
import { SECOND_MS } from '../../contracts/constants/units.js';

/** Time for which the last look at the time since boot counts. A look reads a file, and tools may ask thousands of times a second. */
const LOOK_AGAIN_MS = 50;

interface Look {
  readonly steadyMs: number;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

let last: Look = { steadyMs: sinceBootMs(), monotonicMs: performance.now(), wallMs: Date.now() };

/**
 * Milliseconds on a clock that only moves forward. Unlike `performance.now()`, it counts the time that the machine was suspended; unlike
 * `Date.now()`, it does not follow changes of the clock. Never throws.
 */
export function steadyMs(): number {
  const monotonicMs = performance.now();
  const wallMs = Date.now();
  const passedMs = monotonicMs - last.monotonicMs;
  // after a suspend only the wall clock shows the gap at once; it is not used as the time itself
  const jumped = Math.abs(wallMs - last.wallMs - passedMs) > SECOND_MS;
  if (passedMs > LOOK_AGAIN_MS || jumped) {
    last = { steadyMs: Math.max(last.steadyMs + passedMs, sinceBootMs()), monotonicMs, wallMs };
  }
  return last.steadyMs + (monotonicMs - last.monotonicMs);
}

function sinceBootMs(): number {
  try {
    return uptime() * SECOND_MS;
  } catch {
    // some sandboxes hide it: then a suspend of the machine is not seen, a stopped process still is
    return 0;
  }
}
