import { SimplePlugin } from '@temporalio/plugin';
import type { WorkerOptions } from '@temporalio/worker';
import { AGENT_RUN } from '../contracts/handlers.js';
import { type AgentActivitiesOptions, createAgentActivities, WORKER_OPTIONS } from './create-worker.js';
import { createDataConverter } from './data-converter.js';
import { stateFolder } from './state-folder/state-folder.js';

/**
 * Brings agent runs into a worker that is there already: activities, converter and the options they need. Options that the worker
 * sets itself stand. Its own workflows file must say `export { agentRun } from "perdure/workflows"`.
 */
export class PerdurePlugin extends SimplePlugin {
  constructor(options: AgentActivitiesOptions) {
    super({
      name: `perdure.${AGENT_RUN}`,
      activities: createAgentActivities(options),
      dataConverter: createDataConverter({ artifactsDir: stateFolder(options.stateDir).artifacts }),
    });
  }

  override configureWorker(options: WorkerOptions): WorkerOptions {
    return super.configureWorker({ ...WORKER_OPTIONS, ...options });
  }
}
