import { setTimeout as delay } from 'node:timers/promises';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SessionRun, SessionState } from '../../contracts/schemas/session.js';
import type { WatchItem, WatchOptions } from '../watch/watch-run.js';

/** Options of `SessionHandle.watch`. */
export interface SessionWatchOptions extends WatchOptions {
  /** The run to begin with; `after` and `streamAfter` are positions in it. @default the active run, else the next one */
  readonly runId?: string;
}

/** An item of the watch of a run, with the id of that run. `result` ends a run, not the watch. */
export type SessionWatchItem = WatchItem & { readonly runId: string };

/** What the watch asks. */
export interface WatchedSession {
  readonly state: () => Promise<SessionState>;
  readonly watch: (runId: string, options: WatchOptions) => AsyncIterable<WatchItem>;
}

/** Follows a session from run to run until the signal aborts. Each run is watched once, from its beginning. */
export async function* watchSession(
  { state, watch }: WatchedSession,
  { runId: first, signal, ...position }: SessionWatchOptions,
): AsyncGenerator<SessionWatchItem> {
  let last: string | undefined;
  let isFirst = true;
  const isStopped = (): boolean => signal?.aborted === true;
  while (!isStopped()) {
    const seen = await state().catch(ifAway);
    if (typeof seen === 'object' && isFirst) last = runBefore(seen, first);
    // all runs of a session that begins later are new
    if (seen !== 'away') isFirst = false;
    const next = typeof seen === 'object' ? runAfter(seen, last) : undefined;
    if (next !== undefined) {
      const options = { ...(next.runId === first ? position : {}), ...(signal ? { signal } : {}) };
      const shown = { items: 0 };
      try {
        for await (const item of watch(next.runId, options)) {
          shown.items += 1;
          yield { ...item, runId: next.runId };
        }
        last = next.runId;
        continue;
      } catch (error) {
        // the start of a run that is listed as open may be on its way to the server
        if (shown.items > 0 || next.reason !== undefined || !isNotFound(error)) throw error;
      }
    }
    await delay(SESSION_LIMITS.followEveryMs, undefined, signal ? { signal } : {}).catch(ifAborted);
  }
}

/** The run before the one to begin with. */
function runBefore({ runs, active }: SessionState, first: string | undefined): string | undefined {
  const at = runs.findIndex(({ runId }) => runId === (first ?? active));
  return at < 0 ? runs.at(-1)?.runId : runs[at - 1]?.runId;
}

/** The run after `last`, or the oldest one that is known. */
function runAfter({ runs }: SessionState, last: string | undefined): SessionRun | undefined {
  return runs[runs.findIndex(({ runId }) => runId === last) + 1];
}

function isNotFound(error: unknown): boolean {
  return error instanceof PerdureError && error.code === 'RUN_NOT_FOUND';
}

/** A worker may come, and the session may start, while the watch lasts. */
function ifAway(error: unknown): 'away' | 'not begun' {
  if (error instanceof PerdureError && error.code === 'NO_SESSION') return 'not begun';
  if (error instanceof PerdureError && AWAY.has(error.code)) return 'away';
  throw error;
}

const AWAY: ReadonlySet<string> = new Set(['NO_WORKER', 'TEMPORAL_UNREACHABLE']);

function ifAborted(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
}
