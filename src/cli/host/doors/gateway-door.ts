import { checkStart, type StartInput } from '../../../client/runs/start-run.js';
import type { GatewayDoor, StartedRun } from '../../../gateway/http/routing/gateway-door.js';
import type { LoadedConfig } from '../../../worker/config/load-config.js';
import type { WorkspaceRoot } from '../../options/workspace-root.js';
import { nameHost } from '../name-host.js';
import type { Place } from '../workplace.js';

/** Options of `openGatewayDoor`. */
export interface GatewayDoorOptions {
  readonly version: string;
  readonly config: LoadedConfig;
  readonly workspaces: WorkspaceRoot;
  readonly place: Place;
  /** False: the runs need workers of others, and their config decides what they can run. */
  readonly hasWorker: boolean;
  /** Resolves once a worker answers queries. */
  readonly ready: Promise<void>;
}

/** What the HTTP gateway of a command line offers: the runs of this folder's Temporal server. */
export function openGatewayDoor(options: GatewayDoorOptions): GatewayDoor {
  const { version, place, ready } = options;
  return { version, client: place.client, streams: place.streams, ready, start: (input) => startRun(input, options) };
}

async function startRun(given: StartInput, { config, workspaces, place, hasWorker }: GatewayDoorOptions): Promise<StartedRun> {
  const checked = checkStart(given);
  const { input } = checked;
  const workspace = await workspaces.workspaceOf(input.context?.workspace);
  const placed = workspace === undefined ? input : { ...input, context: { ...input.context, workspace } };
  if (hasWorker) {
    const { checkRun } = await import('../../../worker/config/preflight.js');
    await checkRun(config, placed);
  }
  const { run, executionId, duplicate } = await place.client.start(await nameHost(place, { ...checked, input: placed }));
  const uiUrl = place.runUrl(run.runId);
  return { runId: run.runId, executionId, duplicate, ...(uiUrl === undefined ? {} : { uiUrl }) };
}
