import type { AgentClient } from '../../client/agent-client.js';

/** What the MCP server needs of the process that runs it. */
export interface Door {
  /** Version of the package. */
  readonly version: string;
  /** False: the tools that approve and deny calls, and answer questions, are not offered. */
  readonly decides: boolean;
  /** The client, once the Temporal server is there and a worker answers. Rejects with why there is none. */
  client(): Promise<AgentClient>;
  /** The agents that a run can name. */
  agents(): Promise<readonly OfferedAgent[]>;
  /** Starts a run that goes on after this process. Throws PerdureError. */
  start(request: StartRequest): Promise<StartedRun>;
}

/** An agent as clients see it. */
export interface OfferedAgent {
  readonly name: string;
  readonly description: string;
  /** Its own model. Absent: the model of the run or the config. */
  readonly model?: string;
}

/** The run that a client asks for. */
export interface StartRequest {
  readonly task: string;
  readonly id?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** Relative to the folder of the server, or absolute and inside it. */
  readonly workspace?: string | undefined;
  readonly maxTurns?: number | undefined;
  readonly maxCostUsd?: number | undefined;
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
