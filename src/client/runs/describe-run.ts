import type { WorkflowHandle } from '@temporalio/client';
import { AGENT_RUN } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { type RunListItem, toListItem } from './list-runs.js';

/** The data that the server has of a run. Needs no worker. */
export interface RunDescription extends RunListItem {
  readonly open: boolean;
  readonly historyEvents: number;
  /** Calls that are running, or waiting for a worker or their next attempt. */
  readonly pending: readonly PendingCall[];
}

/** A pending activity of a run. */
export interface PendingCall {
  readonly activity: string;
  readonly attempt: number;
  readonly started: boolean;
  readonly lastFailure?: string;
}

/** The value of `PENDING_ACTIVITY_STATE_STARTED`. */
const STARTED = 2;

/** Describes a run. Throws `RUN_NOT_FOUND` (3), also for a workflow of another type. */
export async function describeRun(access: TemporalAccess, handle: WorkflowHandle): Promise<RunDescription> {
  const info = await access.ask(() => handle.describe(), handle.workflowId);
  if (info.type !== AGENT_RUN) {
    throw new PerdureError('RUN_NOT_FOUND', `workflow ${handle.workflowId} is not an agent run (type: ${info.type})`, 3);
  }
  return {
    ...toListItem(info),
    open: info.closeTime === undefined,
    historyEvents: info.historyLength,
    pending: (info.raw.pendingActivities ?? []).map((activity) => ({
      activity: activity.activityType?.name ?? 'activity',
      attempt: activity.attempt ?? 1,
      started: Number(activity.state) === STARTED,
      ...(activity.lastFailure?.message ? { lastFailure: activity.lastFailure.message } : {}),
    })),
  };
}
