import { setTimeout as delay } from 'node:timers/promises';
import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import type { SessionState } from '../../contracts/schemas/session.js';

/** Options of `SessionHandle.wait`. */
export interface SessionWaitOptions {
  /** Longest wait, in milliseconds. The session continues. @default 30 s */
  readonly timeoutMs?: number;
  /** Stops waiting. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/**
 * What became of a message. `answered`: by this run, whatever its reason. `dropped`: no run answers it. `idle`, without a message id: nothing
 * is in work and nothing waits. `timeout`: none of these yet.
 */
export type SessionOutcome =
  | { readonly outcome: 'answered'; readonly runId: string; readonly reason: string; readonly result?: RunResult }
  | { readonly outcome: 'dropped'; readonly reason: string }
  | { readonly outcome: 'idle' }
  | { readonly outcome: 'timeout' };

/** What the wait asks. */
export interface SessionSource {
  readonly state: () => Promise<SessionState>;
  readonly result: (runId: string, signal: AbortSignal) => Promise<RunResult>;
}

/** Waits for the outcome of a message, or without one until the session is idle. Throws as its source does, except `NO_WORKER`. */
export async function awaitMessage(
  id: string | undefined,
  { state, result }: SessionSource,
  { timeoutMs = SESSION_LIMITS.waitMsDefault, signal }: SessionWaitOptions,
): Promise<SessionOutcome> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = signal ? AbortSignal.any([timeout, signal]) : timeout;
  for (let pauseMs = PAUSE_MS_MIN; !stop.aborted; pauseMs = Math.min(2 * pauseMs, SESSION_LIMITS.followEveryMs)) {
    const seen = await state().catch(ifNoWorker);
    const outcome = seen && outcomeOf(id, seen);
    if (outcome?.outcome === 'answered') return { ...outcome, ...(await resultOf(outcome.runId, result, stop)) };
    if (outcome) return outcome;
    // the end of the active run is the next thing that changes, unless a message interrupts it
    if (seen?.active === undefined) await delay(pauseMs, undefined, { signal: stop }).catch(ifAborted);
    else await untilEnd(seen.active, result, stop);
  }
  signal?.throwIfAborted();
  return { outcome: 'timeout' };
}

/** A run is short in most chats, and its end changes the state of the session shortly after. */
const PAUSE_MS_MIN = 50;

function outcomeOf(id: string | undefined, { runs, dropped, active, queued }: SessionState): SessionOutcome | undefined {
  if (id === undefined) return active === undefined && queued.length === 0 ? { outcome: 'idle' } : undefined;
  const run = runs.findLast(({ messageIds }) => messageIds.includes(id));
  if (run?.reason !== undefined) return { outcome: 'answered', runId: run.runId, reason: run.reason };
  const drop = dropped.findLast((message) => message.id === id);
  return drop && { outcome: 'dropped', reason: drop.reason };
}

/** The result of a run that has ended. A run that the server no longer has gives none. */
async function resultOf(runId: string, result: SessionSource['result'], stop: AbortSignal): Promise<{ readonly result?: RunResult }> {
  try {
    return { result: await result(runId, stop) };
  } catch (error) {
    if (stop.aborted || (error instanceof PerdureError && error.code === 'RUN_NOT_FOUND')) return {};
    throw error;
  }
}

async function untilEnd(runId: string, result: SessionSource['result'], stop: AbortSignal): Promise<void> {
  try {
    await result(runId, stop);
    // the session reads the end of its run in a task of its own
    await delay(PAUSE_MS_MIN, undefined, { signal: stop });
  } catch (error) {
    if (stop.aborted) return;
    // its start may be on its way to the server
    if (!(error instanceof PerdureError) || error.code !== 'RUN_NOT_FOUND') throw error;
    await delay(PAUSE_MS_MIN, undefined, { signal: stop }).catch(ifAborted);
  }
}

/** A worker may come while the wait lasts. */
function ifNoWorker(error: unknown): undefined {
  if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
}

function ifAborted(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
}
