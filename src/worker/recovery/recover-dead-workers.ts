import { setTimeout as pause } from 'node:timers/promises';
import { ActivityNotFoundError, type Client, isGrpcServiceError } from '@temporalio/client';
import { workerDied } from '../failures.js';
import { listOpenRuns, listStartedActivities, type OpenRun, type StartedActivity } from './started-activities.js';
import { deadWorkers } from './worker-record.js';

/** Options of a recovery. `client` is connected to the embedded server. */
export interface RecoveryOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly stateDir: string;
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

const PARALLEL_MAX = 8;
const GRPC_NOT_FOUND = 5;

/**
 * Fails the running calls of dead workers of this folder immediately, instead of after their heartbeat timeout.
 *
 * For each open run: resets its sticky queue, because its next workflow task would otherwise wait for the dead worker. Then fails each
 * activity that runs on a recorded worker whose process is proved dead. Never touches activities of other workers. Idempotent.
 */
export async function recoverDeadWorkers(options: RecoveryOptions): Promise<Recovery> {
  const { client, taskQueue, stateDir, log, forget = false } = options;
  const dead = await deadWorkers(stateDir, log);
  if (dead.length === 0) return { runs: 0, failed: 0, remembered: 0 };
  const identities = new Set(dead.map(({ identity }) => identity));
  const runs = await listOpenRuns(client, taskQueue);
  const stillFound = new Set<string>();
  let failed = 0;
  await inParallel(runs, async (run) => {
    await resetStickyQueue(client, run);
    for (const activity of await listStartedActivities(client, run, identities)) {
      stillFound.add(activity.worker);
      if (!(await failActivity(client, activity))) continue;
      failed += 1;
      log(`${run.workflowId}: ${activity.type} was running on a dead worker; the run handles it as failed`);
    }
  });
  const forgotten = forget ? dead.filter(({ identity }) => !stillFound.has(identity)) : [];
  for (const record of forgotten) await record.forget();
  return { runs: runs.length, failed, remembered: dead.length - forgotten.length };
}

async function resetStickyQueue(client: Client, { workflowId, runId }: OpenRun): Promise<void> {
  try {
    await client.workflowService.resetStickyTaskQueue({ namespace: client.options.namespace, execution: { workflowId, runId } });
  } catch (error) {
    // the run was closed after it was listed
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
    if (code !== GRPC_NOT_FOUND) throw error;
  }
}

/** False if the activity timed out or completed after it was listed. */
async function failActivity(client: Client, { run, activityId, worker, heartbeatDetails }: StartedActivity): Promise<boolean> {
  try {
    await client.activity.fail({ ...run, activityId }, workerDied(worker, heartbeatDetails));
    return true;
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return false;
    throw error;
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const runNext = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL_MAX }, runNext));
}

/** The pauses before each further check. */
const CHECK_AGAIN_AFTER_MS = [500, 1_500, 5_000, 15_000];
/** From this check on, visibility has caught up. */
const FORGET_FROM_CHECK = 2;

/**
 * Repeats the recovery until the records of dead workers are removed, because visibility may not list their newest runs yet. Runs
 * concurrently with the new worker. Stops when `signal` aborts. Never rejects: a failed check is logged, and the records stay for the
 * next process.
 */
export async function recoverAgain(options: Omit<RecoveryOptions, 'forget'>, signal: AbortSignal): Promise<void> {
  try {
    for (const [check, afterMs] of CHECK_AGAIN_AFTER_MS.entries()) {
      await pause(afterMs, undefined, { signal });
      const { remembered } = await recoverDeadWorkers({ ...options, forget: check >= FORGET_FROM_CHECK });
      if (remembered === 0) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    options.log(`recovery of the calls of dead workers failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
