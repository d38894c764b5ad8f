import { setTimeout as delay } from 'node:timers/promises';

/** Says that this process is here for new runs. */
export interface Announcement {
  remove(): Promise<void>;
}

/** What waiting for idleness needs. */
export interface UntilIdleOptions {
  readonly hasOpenRuns: () => Promise<boolean>;
  /** The one that stands already. */
  readonly announcement: Announcement;
  readonly announceAgain: () => Promise<Announcement>;
  readonly signal: AbortSignal;
  /** How long there must have been no open run. @default 10 s */
  readonly idleMs?: number;
  /** @default 1 s */
  readonly pollMs?: number;
}

const IDLE_MS = 10_000;
const POLL_MS = 1_000;

/**
 * Resolves when no run has been open for a while, or the signal aborts. Before it ends it takes its announcement back and looks once more,
 * so that a run started meanwhile by somebody who saw the announcement is not left alone.
 */
export async function untilIdle(options: UntilIdleOptions): Promise<void> {
  const { hasOpenRuns, announceAgain, signal, idleMs = IDLE_MS, pollMs = POLL_MS } = options;
  let { announcement } = options;
  while (true) {
    await quiet({ hasOpenRuns, signal, idleMs, pollMs });
    await announcement.remove();
    if (signal.aborted || !(await hasOpenRuns())) return;
    announcement = await announceAgain();
  }
}

async function quiet({
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
