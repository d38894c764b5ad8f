import { setTimeout as delay } from 'node:timers/promises';

/** What waiting for idleness needs. */
export interface UntilIdleOptions {
  readonly hasOpenRuns: () => Promise<boolean>;
  /** Says that this process is here for new runs, until the given way to take it back is called. */
  readonly announce: () => Promise<{ remove(): Promise<void> }>;
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
  const { hasOpenRuns, announce, signal, idleMs = IDLE_MS, pollMs = POLL_MS } = options;
  while (!signal.aborted) {
    const announcement = await announce();
    await quiet({ hasOpenRuns, signal, idleMs, pollMs });
    await announcement.remove();
    if (!(await hasOpenRuns())) return;
  }
}

async function quiet({ hasOpenRuns, signal, idleMs, pollMs }: Required<Omit<UntilIdleOptions, 'announce'>>): Promise<void> {
  let idleSince = Date.now();
  while (!signal.aborted && Date.now() - idleSince < idleMs) {
    if (await hasOpenRuns()) idleSince = Date.now();
    await delay(pollMs, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
