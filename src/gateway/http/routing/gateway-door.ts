import type { AgentClient } from '../../../client/agent-client.js';
import type { StartInput } from '../../../client/runs/start-run.js';
import type { StreamSource } from '../../../streams/stream.js';

/** What the gateway needs of the process that runs it. */
export interface GatewayDoor {
  /** Version of the package. */
  readonly version: string;
  readonly client: AgentClient;
  /** The tokens that workers publish. */
  readonly streams: StreamSource;
  /** Resolves once a worker answers queries. */
  readonly ready: Promise<void>;
  /** Checks the input of a run and starts it. `workspace` is relative to the folder of the gateway, or absolute and inside it. Throws PerdureError. */
  start(input: StartInput): Promise<StartedRun>;
}

/** A run that was started, or that was there. */
export interface StartedRun {
  readonly runId: string;
  readonly executionId: string;
  /** True if a run with this ID and input was there. */
  readonly duplicate: boolean;
  /** Its page in the Temporal Web UI. */
  readonly uiUrl?: string;
}
