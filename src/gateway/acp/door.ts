import type { AgentClient } from '../../client/agent-client.js';
import type { SessionOptions } from '../../client/sessions/session-input.js';
import type { StreamSource } from '../../streams/stream.js';

/** What the ACP server needs of the process that runs it. */
export interface AcpDoor {
  /** Version of the package. */
  readonly version: string;
  /** The Temporal server, once it is there and a worker answers. Rejects with why there is none. */
  reach(): Promise<Reached>;
  /** The real path of the folder that an editor works in. Throws `WORKSPACE` (2). */
  workspaceOf(cwd: string): Promise<string>;
  /** The options of a new session in a workspace. Throws PerdureError (2) if no run could start, such as `NO_MODEL`. */
  sessionOptions(workspace: string): Promise<SessionOptions>;
  /** Makes sure that open runs continue when this process ends. */
  keepRunning(): Promise<void>;
}

/** The Temporal server, as an ACP server uses it. */
export interface Reached {
  readonly client: AgentClient;
  /** The tokens of the workers. */
  readonly streams: StreamSource;
}
