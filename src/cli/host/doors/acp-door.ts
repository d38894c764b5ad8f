import type { SessionOptions } from '../../../client/sessions/session-input.js';
import type { AcpDoor } from '../../../gateway/acp/door.js';
import type { LoadedConfig } from '../../../worker/config/load-config.js';
import { checkWorkspace } from '../../options/workspace.js';
import type { OpeningDoor } from './serve-while-opening.js';

/** Options of `openAcpDoor`. */
export interface AcpDoorOptions extends Omit<OpeningDoor, 'signal'> {
  readonly version: string;
  readonly config: LoadedConfig;
  /** The options of the command line for each session, without a workspace. */
  readonly session: SessionOptions;
  /** True: the root folder and the home folder may be workspaces. */
  readonly iKnow: boolean;
  /** False: the runs need workers of others, and their config decides what they can run. */
  readonly hasWorker: boolean;
}

/** What the ACP server of a command line offers: sessions at this folder's Temporal server. */
export function openAcpDoor({ version, config, session, iKnow, hasWorker, opening, ready }: AcpDoorOptions): AcpDoor {
  return {
    version,
    async reach() {
      const { place } = await opening;
      // a query sent before a worker is ready waits in the sticky queue of a dead worker
      await ready;
      return { client: place.client, streams: place.streams };
    },
    workspaceOf: (cwd) => checkWorkspace(cwd, { iKnow }),
    async sessionOptions(workspace) {
      const { agent, defaults } = session;
      if (hasWorker) {
        const { checkRun } = await import('../../../worker/config/preflight.js');
        await checkRun(config, { ...defaults, ...(agent === undefined ? {} : { agent }) });
      }
      return { ...session, defaults: { ...defaults, context: { ...defaults?.context, workspace } } };
    },
    async keepRunning() {
      const { keepRunning } = await opening;
      await keepRunning();
    },
  };
}
