import type { WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { AGENT_RUN } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { HeartbeatDetails } from '../../contracts/schemas/heartbeat.js';
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
  /** What the call reported last, such as the last line of a command. Absent until it reports something. */
  readonly progress?: string;
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
    pending: await Promise.all(
      (info.raw.pendingActivities ?? []).map(async (activity) => ({
        activity: activity.activityType?.name ?? 'activity',
        attempt: activity.attempt ?? 1,
        started: Number(activity.state) === STARTED,
        ...(activity.lastFailure?.message ? { lastFailure: activity.lastFailure.message } : {}),
        ...(await progressOf(access, activity.heartbeatDetails?.payloads ?? [])),
      })),
    ),
  };
}

/** The text of the last heartbeat. A payload that this client cannot decode has none. */
async function progressOf({ client }: TemporalAccess, payloads: readonly Payload[]): Promise<{ progress?: string }> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  const [payload] = payloads;
  if (!payload) return {};
  try {
    let decoded = [payload];
    for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
    const [first] = decoded;
    // the worker of this run wrote it; a heartbeat of another version may lack the field
    const { lastText } = (first ? payloadConverter.fromPayload<Partial<HeartbeatDetails> | undefined>(first) : undefined) ?? {};
    return typeof lastText === 'string' && lastText !== '' ? { progress: lastText } : {};
  } catch (error) {
    if (error instanceof Error) return {};
    throw error;
  }
}
