import type { TemporalConnectionOptions } from '../connect/check-connection.js';
import type { OpenRun } from '../recovery/started-activities.js';

/** The Temporal server of a worker. */
export interface WorkerServer {
  readonly connectionOptions: TemporalConnectionOptions;
  readonly namespace: string;
}

/** A worker on a shared server. Its supervisor reports its death there. */
export interface SharedHosting {
  readonly kind: 'shared';
  readonly identity: string;
  readonly server: WorkerServer;
}

/** A worker of the embedded server. The next worker of the folder recovers its calls; its supervisor keeps the server running until then. */
export interface EmbeddedHosting {
  readonly kind: 'embedded';
  readonly stateDir: string;
}

/** An activity that a worker process runs. */
export interface RunningCall {
  readonly run: OpenRun;
  readonly activityId: string;
  /** Name of the activity, such as `callModel`. */
  readonly activity: string;
}

/** A message of a worker process to its supervisor. */
export type WorkerMessage =
  /** Loaded and connected; waits for its turn. */
  | { readonly type: 'ready'; readonly hosting: SharedHosting | EmbeddedHosting }
  /** Polls, or waits for the lock of its folder. */
  | { readonly type: 'working' }
  | { readonly type: 'started'; readonly call: RunningCall }
  | { readonly type: 'ended'; readonly call: RunningCall };

/** A message of the supervisor: this process is to poll. */
export interface TurnMessage {
  readonly type: 'turn';
}

/** Set in the environment of a process that a supervisor starts. */
export const SUPERVISED_VARIABLE = 'PERDURE_SUPERVISED';

/** Checks a message of the other process, which is of the same version. */
export function isMessage<Message extends { readonly type: string }>(value: unknown, type: Message['type']): value is Message {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}
