const TICK_MS = 100;

/** A later tick is a stall of this process. */
const LATE_TICK_MS = 200;

/** A clock that stands still while this process stalls, so that a time limit measures the code and not a busy machine. */
export interface UnstalledClock {
  /** Milliseconds since the start without those of stalls. */
  elapsedMs(): number;
  /** Milliseconds of stalls since the start. */
  stalledMs(): number;
}

/** Starts such a clock. It ends with the process. */
export function startUnstalledClock(): UnstalledClock {
  const startedAt = performance.now();
  let tickedAt = startedAt;
  let stalledMs = 0;
  const tick = (): void => {
    const now = performance.now();
    if (now - tickedAt > LATE_TICK_MS) stalledMs += now - tickedAt - TICK_MS;
    tickedAt = now;
  };
  setInterval(tick, TICK_MS).unref();
  return {
    elapsedMs: () => {
      tick();
      return tickedAt - startedAt - stalledMs;
    },
    stalledMs: () => {
      tick();
      return stalledMs;
    },
  };
}
