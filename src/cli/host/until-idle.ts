import { setTimeout as delay } from 'node:timers/promises';

/** The announcement of this process as the worker for new runs. */
export interface Announcement {
  remove(): Promise<void>;
}

/** Options of `untilIdle`. */
export interface UntilIdleOptions {
  readonly hasOpenRuns: () => Promise<boolean>;
  /** The current announcement. */
  readonly announcement: Announcement;
  readonly announceAgain: () => Promise<Announcement>;
  readonly signal: AbortSignal;
  /** The time without an open run before the process is idle. @default 10 s */
  readonly idleMs?: number;
  /** @default 1 s */
  readonly pollMs?: number;
}

const IDLE_MS = 10_000;
const POLL_MS = 1_000;

/**
 * Resolves when no run has been open for `idleMs`, or when the signal aborts. Before it resolves, it removes the announcement and checks
 * once more, because another process may have started a run while the announcement existed.
 */
export async function untilIdle(options: UntilIdleOptions): Promise<void> {
  const { hasOpenRuns, announceAgain, signal, idleMs = IDLE_MS, pollMs = POLL_MS } = options;
  let { announcement } = options;
  while (true) {
    await waitUntilQuiet({ hasOpenRuns, signal, idleMs, pollMs });
    await announcement.remove();
    if (signal.aborted || !(await hasOpenRuns())) return;
    announcement = await announceAgain();
  }
}

async function waitUntilQuiet({
  hasOpenRuns,
  signal,
  idleMs,
  pollMs,
}: Required<Omit<UntilIdleOptions, 'announcement' | 'announceAgain'>>): Promise<void> {
  let idleSince = Date.now();
  while (!signal.aborted && Date.now() - idleSince < idleMs) {
    if (await hasOpenRuns()) idleSince = Date.now();
    await delay(pollMs, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
