import { onTestFinished, vi } from 'vitest';

/**
 * Holds the timers of `setTimeout` in this process, for a time limit that must not pass before something has happened. Returns a function
 * that lets the time pass at once and starts the timers again; further calls of it do nothing. After the test, the timers run in any case.
 */
export function holdTimers(): (passedMs: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return (passedMs) => {
    if (!vi.isFakeTimers()) return;
    vi.advanceTimersByTime(passedMs);
    // at once: what the end of the time starts has timers that run
    vi.useRealTimers();
  };
}
