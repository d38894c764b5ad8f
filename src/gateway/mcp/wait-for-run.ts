import { setTimeout as delay } from 'node:timers/promises';
import type { RunHandle } from '../../client/run-handle.js';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Progress, RunResult } from '../../contracts/schemas/run.js';

/** Options of `waitForRun`. */
export interface WaitOptions {
  readonly timeoutMs: number;
  /** True: the wait also ends when a call waits for an approval, or a question for an answer. */
  readonly untilAsked: boolean;
  /** Ends the wait: the client cancelled it, or left. The run continues. */
  readonly signal: AbortSignal;
  /** Called when the progress of the run changed. */
  readonly report: (line: string, progress: Progress | undefined) => Promise<void>;
}

/** The end of a wait. Without a result the run is still open. */
export interface Waited {
  readonly runId: string;
  readonly done: boolean;
  readonly result?: RunResult;
  readonly progress?: Progress;
  /** Why there is no progress. */
  readonly notice?: string;
}

/**
 * Waits until a run is closed, until a call of it waits for an approval or a question of it for an answer, or until the time is over, which
 * is no error. Throws `RUN_NOT_FOUND`.
 */
export async function waitForRun(run: RunHandle, { timeoutMs, untilAsked, signal, report }: WaitOptions): Promise<Waited> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  const ended = AbortSignal.any([stop.signal, signal]);
  const closed = run.result({ signal: ended }).then((result) => ({ runId: run.runId, done: true, result }));
  try {
    const asked = watchProgress(run, ended, { untilAsked, report }).then((seen) => ({ runId: run.runId, done: false, ...seen }));
    // the end of the wait rejects the first of both
    return await Promise.race([closed.catch((error: unknown) => (ended.aborted ? asked : rethrow(error))), asked]);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

type Seen = Pick<Waited, 'progress' | 'notice'>;

/** Looks every second. Resolves with the last progress when the wait ends. */
async function watchProgress(
  run: RunHandle,
  ended: AbortSignal,
  { untilAsked, report }: Pick<WaitOptions, 'untilAsked' | 'report'>,
): Promise<Seen> {
  let told = '';
  while (true) {
    const seen = await look(run);
    const line = describe(seen);
    if (line !== told) await report(line, seen.progress);
    told = line;
    if (ended.aborted || (untilAsked && isAsking(seen))) return seen;
    await delay(CLIENT_LIMITS.watchEveryMs, undefined, { signal: ended }).catch(() => undefined);
  }
}

function isAsking({ progress }: Seen): boolean {
  return progress !== undefined && progress.pendingApprovals + (progress.pendingQuestions ?? 0) > 0;
}

async function look(run: RunHandle): Promise<Seen> {
  try {
    return { progress: await run.progress() };
  } catch (error) {
    // a missing run rejects the wait for its result
    if (error instanceof PerdureError) return { notice: `${error.code}: ${error.message}` };
    throw error;
  }
}

function describe({ progress, notice = '' }: Seen): string {
  if (!progress) return notice;
  const { turn, maxTurns, status, phase, waitingFor, tool } = progress;
  const doing = status === 'paused' ? status : waitingFor === undefined ? phase : `waiting: ${waitingFor}`;
  return `turn ${turn} of ${maxTurns}, ${doing}${tool === undefined ? '' : `, ${tool}`}`;
}

function rethrow(error: unknown): never {
  throw error;
}
