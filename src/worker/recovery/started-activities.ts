import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';

/** One execution of an open run. */
export interface OpenRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** An activity that a worker has started and not completed. */
export interface StartedActivity {
  readonly run: OpenRun;
  readonly activityId: string;
  readonly type: string;
  /** The identity of its worker. */
  readonly worker: string;
  readonly heartbeatDetails: readonly unknown[];
}

type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;

/** Values of Temporal's PendingActivityState. */
const STARTED = 2;
const CANCEL_REQUESTED = 3;

/** Lists the open runs of a task queue, newest first. Visibility lags, so a run started just now may be missing. @default max all */
export async function listOpenRuns(client: Client, taskQueue: string, max = Number.POSITIVE_INFINITY): Promise<OpenRun[]> {
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running"`;
  const runs: OpenRun[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    runs.push({ workflowId, runId });
    if (runs.length >= max) break;
  }
  return runs;
}

/** Lists the activities of a run that one of `workers` has started and not completed. Empty if the run is closed or missing. */
export async function listStartedActivities(client: Client, run: OpenRun, workers: ReadonlySet<string>): Promise<StartedActivity[]> {
  const pending = await pendingActivities(client, run);
  const theirs = pending.filter((activity) => isStarted(activity) && workers.has(activity.lastWorkerIdentity ?? ''));
  return Promise.all(
    theirs.map(async (activity) => ({
      run,
      activityId: activity.activityId ?? '',
      type: activity.activityType?.name ?? '',
      worker: activity.lastWorkerIdentity ?? '',
      heartbeatDetails: await lastHeartbeat(client, activity),
    })),
  );
}

/** The details of the last heartbeat. Empty if they cannot be decoded: that must not keep a call of a dead worker from its run. */
async function lastHeartbeat(client: Client, { heartbeatDetails }: PendingActivity): Promise<readonly unknown[]> {
  try {
    return await decodeArrayFromPayloads(client.options.loadedDataConverter, heartbeatDetails?.payloads);
  } catch {
    return [];
  }
}

async function pendingActivities(client: Client, { workflowId, runId }: OpenRun): Promise<readonly PendingActivity[]> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return raw.pendingActivities ?? [];
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}

/** The state CANCEL_REQUESTED does not show whether an activity is running. Only a running one has a start time. */
function isStarted({ state, lastStartedTime }: PendingActivity): boolean {
  return Number(state) === STARTED || (Number(state) === CANCEL_REQUESTED && lastStartedTime != null);
}
