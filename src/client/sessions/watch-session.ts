import { setTimeout as delay } from 'node:timers/promises';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SessionState } from '../../contracts/schemas/session.js';
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
    if (seen && isFirst) last = runBefore(seen, first);
    const next = seen && runAfter(seen, last);
    if (seen) isFirst = false;
    if (next === undefined) {
      await delay(SESSION_LIMITS.followEveryMs, undefined, signal ? { signal } : {}).catch(ifAborted);
      continue;
    }
    const options = { ...(next === first ? position : {}), ...(signal ? { signal } : {}) };
    for await (const item of watch(next, options)) yield { ...item, runId: next };
    last = next;
  }
}

/** The run before the one to begin with. */
function runBefore({ runs, active }: SessionState, first: string | undefined): string | undefined {
  const at = runs.findIndex(({ runId }) => runId === (first ?? active));
  return at < 0 ? runs.at(-1)?.runId : runs[at - 1]?.runId;
}

/** The run after `last`, or the oldest one that is known. */
function runAfter({ runs }: SessionState, last: string | undefined): string | undefined {
  return runs[runs.findIndex(({ runId }) => runId === last) + 1]?.runId;
}

/** A worker may come, and the session may start, while the watch lasts. */
function ifAway(error: unknown): undefined {
  if (error instanceof PerdureError && WAITED_FOR.has(error.code)) return undefined;
  throw error;
}

const WAITED_FOR: ReadonlySet<string> = new Set(['NO_WORKER', 'NO_SESSION', 'TEMPORAL_UNREACHABLE']);

function ifAborted(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
}
