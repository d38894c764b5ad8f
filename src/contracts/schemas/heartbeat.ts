/** Heartbeat details, shown under Pending Activities in the Web UI (≤ 1 KiB). */
export interface HeartbeatDetails {
  readonly phase: string;
  readonly elapsedMs: number;
  readonly tokens?: number;
  readonly lastText?: string;
  /** The queue of the host that runs the call. Absent if one host has all workers. */
  readonly queue?: string;
}

/** `details[0]` of a `Worker.Shutdown`, with which a worker reports that it stopped a call. */
export interface StoppedDetails extends HeartbeatDetails {
  /** True if the call had ended by then; false if it ignored its signal. */
  readonly ended?: boolean;
  /**
   * `lost contact`: the server did not acknowledge the heartbeats of the call. `unreachable`: the worker knows nothing of an earlier
   * attempt. @default its worker shut down
   */
  readonly why?: 'lost contact' | 'unreachable';
}
