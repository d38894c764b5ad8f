import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { HOST_PROCESS_LIMITS, HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { handBack } from './hand-back.js';
import { listOpenRuns } from './started-activities.js';
import { deadWorkers, hasOtherWorkers } from './worker-record.js';

/** Options of a recovery. */
export interface RecoveryOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly stateDir: string;
  /**
   * The name of a shared server, as in the records of its workers. Other workers may be alive there, so only affected runs lose their
   * sticky queue, and only the newest runs are checked. @default the embedded server of the folder
   */
  readonly server?: string;
  readonly log: (line: string) => void;
  /**
   * Also removes the records of dead workers without calls left.
   * @default false, because visibility lags: the newest runs may be listed only later
   */
  readonly forget?: boolean;
}

/** The result of a recovery. */
export interface Recovery {
  /** The number of open runs that were checked. 0 if no recorded worker is dead. */
  readonly runs: number;
  /** The number of activities that were failed as `Worker.Died`. */
  readonly failed: number;
  /** The number of records of dead workers that are kept. */
  readonly remembered: number;
}

/**
 * Fails the running calls of dead workers of this folder immediately, instead of after their heartbeat timeout: in each open run, the
 * activities that run on a recorded worker whose process is proved dead. Never touches activities of other workers. Idempotent.
 */
export async function recoverDeadWorkers(options: RecoveryOptions): Promise<Recovery> {
  const { client, taskQueue, stateDir, server, log, forget = false } = options;
  const dead = await deadWorkers(stateDir, { server, say: log });
  if (dead.length === 0) return { runs: 0, failed: 0, remembered: 0 };
  const runs = await listOpenRuns(client, taskQueue, server === undefined ? undefined : HOSTING_LIMITS.checkedRunsMax);
  const identities = new Map(dead.map(({ identity }) => [identity, undefined]));
  const handedBack = await handBack(runs, { client, dead: identities, reset: server === undefined ? 'all' : 'affected' });
  const failed = handedBack.filter((activity) => activity.failed);
  for (const { run, type } of failed) log(`${run.workflowId}: ${type} was running on a dead worker; the run handles it as failed`);
  const stillFound = new Set(handedBack.map(({ worker }) => worker));
  const forgotten = forget ? dead.filter(({ identity }) => !stillFound.has(identity)) : [];
  for (const record of forgotten) await record.forget();
  return { runs: runs.length, failed: failed.length, remembered: dead.length - forgotten.length };
}

/** Resets the sticky queues of all open runs of a task queue, when their worker no longer polls. */
export async function resetStickyQueues(client: Client, taskQueue: string): Promise<void> {
  await handBack(await listOpenRuns(client, taskQueue), { client, dead: new Map(), reset: 'all' });
}

/** The pauses before each further check: short ones, because a call that visibility hides would wait for its heartbeat timeout. */
const CHECK_AGAIN_AFTER_MS = [500, 1_000, 2_000, 3_000, 4_000, 5_000, 8_000];
/** From this check on, visibility has caught up: 15 s after the first one. */
const FORGET_FROM_CHECK = 5;

/**
 * Repeats the recovery until the records of dead workers are removed, because visibility may not list their newest runs yet. Then watches
 * former workers of the folder, which finish their calls in other processes, and recovers the calls of one that dies. `own` is the
 * identity of the worker that runs at the same time. Stops when `signal` aborts. Never rejects: a failed check is logged, and the records
 * stay for the next process.
 */
export async function recoverAgain(
  options: Omit<RecoveryOptions, 'forget'>,
  { own, signal }: { readonly own: string; readonly signal: AbortSignal },
): Promise<void> {
  const { stateDir, server, log } = options;
  try {
    await recheck(options, signal);
    // on a shared server each worker looks after itself
    if (server !== undefined) return;
    while (await hasOtherWorkers(stateDir, own, log)) {
      if ((await recoverDeadWorkers(options)).remembered > 0) await recheck(options, signal);
      await pause(HOST_PROCESS_LIMITS.formerWorkersEveryMs, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) return;
    log(`recovery of the calls of dead workers failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function recheck(options: Omit<RecoveryOptions, 'forget'>, signal: AbortSignal): Promise<void> {
  for (const [check, afterMs] of CHECK_AGAIN_AFTER_MS.entries()) {
    await pause(afterMs, undefined, { signal });
    const { remembered } = await recoverDeadWorkers({ ...options, forget: check >= FORGET_FROM_CHECK });
    if (remembered === 0) return;
  }
}
