import { setTimeout as pause } from 'node:timers/promises';
import { ActivityNotFoundError, type Client, isGrpcServiceError } from '@temporalio/client';
import { workerDied } from '../failures.js';
import { listOpenRuns, listStartedActivities, type OpenRun, type StartedActivity } from './started-activities.js';
import { deadWorkers } from './worker-record.js';

/** What a recovery needs. `client` is connected to the folder's own server. */
export interface RecoveryOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly stateDir: string;
  readonly log: (line: string) => void;
  /**
   * Also removes the records of dead workers of whom this look found nothing.
   * @default false, because visibility lags: the runs of the last moments may show up only at a later look
   */
  readonly forget?: boolean;
}

/** What a recovery found and did. */
export interface Recovery {
  /** Open runs that were looked at; 0 when no recorded worker is dead. */
  readonly runs: number;
  /** Activities that were failed as `Worker.Died`. */
  readonly failed: number;
  /** Records of dead workers that are still kept. */
  readonly remembered: number;
}

const PARALLEL_MAX = 8;
const GRPC_NOT_FOUND = 5;

/**
 * Gives back at once what dead workers of this folder left unreported, instead of after their heartbeat timeout.
 *
 * For every open run: its sticky queue is reset (else its next workflow task waits for the dead worker), then its activities
 * are looked up, and each that runs on a recorded worker whose process is proved dead is failed by id. An activity of any
 * other worker is never touched. May be repeated at any time.
 */
export async function recoverDeadWorkers(options: RecoveryOptions): Promise<Recovery> {
  const { client, taskQueue, stateDir, log, forget = false } = options;
  const dead = await deadWorkers(stateDir);
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
      log(`${run.workflowId}: ${activity.type} ran on a worker that died; it was given back to the run`);
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
    // the run was closed since it was listed
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
    if (code !== GRPC_NOT_FOUND) throw error;
  }
}

/** False when the activity timed out or ended since it was looked up. */
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
  const takeTurns = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL_MAX }, takeTurns));
}

/** Pauses between the looks after the first one. */
const LOOK_AGAIN_AFTER_MS = [500, 1_500, 5_000, 15_000];
/** Visibility has long caught up by then. */
const FORGET_FROM_LOOK = 2;

/**
 * Looks again for what dead workers left, since visibility may lag behind their last moments, until their records are
 * forgotten. Runs beside the new worker: only what is proved to belong to a dead one is touched. Ends early when `signal`
 * aborts, and never rejects: a look that fails is logged, and the records stay for the next process.
 */
export async function recoverAgain(options: Omit<RecoveryOptions, 'forget'>, signal: AbortSignal): Promise<void> {
  try {
    for (const [look, afterMs] of LOOK_AGAIN_AFTER_MS.entries()) {
      await pause(afterMs, undefined, { signal });
      const { remembered } = await recoverDeadWorkers({ ...options, forget: look >= FORGET_FROM_LOOK });
      if (remembered === 0) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    options.log(`looking for calls of dead workers failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
