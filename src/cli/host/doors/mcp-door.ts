import type { AgentClient } from '../../../client/agent-client.js';
import { checkStart } from '../../../client/runs/start-run.js';
import type { Door, OfferedAgent, StartedRun, StartRequest } from '../../../gateway/mcp/door.js';
import type { LoadedConfig } from '../../../worker/config/load-config.js';
import type { WorkspaceRoot } from '../../options/workspace-root.js';
import { nameHost } from '../name-host.js';
import type { Opened } from './serve-while-opening.js';

/** Options of `openMcpDoor`. */
export interface McpDoorOptions {
  readonly version: string;
  readonly decides: boolean;
  readonly config: LoadedConfig;
  readonly workspaces: WorkspaceRoot;
  /** False: the runs need workers of others, and their config decides what they can run. */
  readonly hasWorker: boolean;
  /** The Temporal server, which may still be starting. */
  readonly opening: Promise<Opened>;
  /** Resolves once a worker answers queries. */
  readonly ready: Promise<void>;
}

/** What the MCP server of a command line offers: the runs of this folder's Temporal server and the agents of its config. */
export function openMcpDoor(options: McpDoorOptions): Door {
  const { version, decides, config, opening, ready } = options;
  return {
    version,
    decides,
    async client(): Promise<AgentClient> {
      const { place } = await opening;
      // a query sent before a worker is ready waits in the sticky queue of a dead worker
      await ready;
      return place.client;
    },
    async agents(): Promise<readonly OfferedAgent[]> {
      const { listAgents } = await import('../../../worker/config/list-agents.js');
      return listAgents(config).map(({ definedIn: _definedIn, ...agent }) => agent);
    },
    start: (request) => startRun(request, options),
  };
}

async function startRun({ workspace: requested, ...request }: StartRequest, options: McpDoorOptions): Promise<StartedRun> {
  const { config, workspaces, hasWorker, opening } = options;
  const workspace = await workspaces.workspaceOf(requested);
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  const checked = checkStart({ ...given, ...(workspace === undefined ? {} : { context: { workspace } }) });
  if (hasWorker) {
    const { checkRun } = await import('../../../worker/config/preflight.js');
    await checkRun(config, checked.input);
  }
  const { place, keepRunning } = await opening;
  const { run, executionId, duplicate } = await place.client.start(await nameHost(place, checked));
  const { runId } = run;
  if (!duplicate || (await run.describe()).open) await keepRunning();
  const uiUrl = place.runUrl(runId);
  return { runId, executionId, duplicate, ...(uiUrl === undefined ? {} : { uiUrl }) };
}
