import { ActivityNotFoundError, type Client, isGrpcServiceError } from '@temporalio/client';
import { workerDied } from '../failures.js';
import { listStartedActivities, type OpenRun, type StartedActivity } from './started-activities.js';

/** The calls of dead workers to hand back. */
export interface HandBackOptions {
  readonly client: Client;
  /** The identities of dead workers, each with the cause of its death if known, such as `killed by SIGKILL`. */
  readonly dead: ReadonlyMap<string, string | undefined>;
  /** `all`: the sticky queue of every given run is reset · `affected`: only of runs with a call of a dead worker. */
  readonly reset: 'all' | 'affected';
}

/** A call that was found on a dead worker. `failed` is false if it timed out or completed in the meantime. */
export interface HandedBack extends StartedActivity {
  readonly failed: boolean;
}

const PARALLEL_MAX = 8;
const GRPC_NOT_FOUND = 5;

/**
 * Fails the calls of dead workers in the given runs as `Worker.Died`, so that each run continues immediately, not after the heartbeat
 * timeout. Resets the sticky queue of a run first, because its next workflow task would otherwise wait for the dead worker.
 *
 * Never touches a call of another worker: the server names the worker of each call, and it must be exactly one of `dead`. Idempotent.
 * Rejects if the server does not answer; the remaining runs are then unchanged.
 */
export async function handBack(runs: readonly OpenRun[], { client, dead, reset }: HandBackOptions): Promise<HandedBack[]> {
  const identities = new Set(dead.keys());
  const handedBack: HandedBack[] = [];
  await inParallel(runs, async (run) => {
    if (reset === 'all') await resetStickyQueue(client, run);
    const activities = await listStartedActivities(client, run, identities);
    if (reset === 'affected' && activities.length > 0) await resetStickyQueue(client, run);
    for (const activity of activities) {
      handedBack.push({ ...activity, failed: await failActivity(client, activity, dead.get(activity.worker)) });
    }
  });
  return handedBack;
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
async function failActivity(client: Client, activity: StartedActivity, cause: string | undefined): Promise<boolean> {
  const { run, activityId, worker, heartbeatDetails } = activity;
  try {
    await client.activity.fail({ ...run, activityId }, workerDied(worker, heartbeatDetails, cause));
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
