import { SimplePlugin } from '@temporalio/plugin';
import type { BundleOptions, WorkerOptions } from '@temporalio/worker';
import { AGENT_RUN } from '../contracts/handlers.js';
import { type AgentActivitiesOptions, createAgentActivities, WORKER_OPTIONS } from './create-worker.js';
import { createDataConverter } from './data-converter.js';
import { stateFolder } from './state-folder/state-folder.js';
import { payloadConverterPath } from './workflow-bundle.js';

/**
 * Adds agent runs to an existing worker: activities, data converter and worker options. Options that the worker sets take precedence.
 * Its workflows file must contain `export { agentRun } from "perdure/workflows"`.
 */
export class PerdurePlugin extends SimplePlugin {
  constructor(options: AgentActivitiesOptions) {
    super({
      name: `perdure.${AGENT_RUN}`,
      activities: createAgentActivities(options),
      dataConverter: createDataConverter({ artifactsDir: stateFolder(options.stateDir).artifacts }),
    });
  }

  /** A bundle with a payload converter of its own keeps it: a payload that it cannot decode then fails the workflow task. */
  override configureBundler(options: BundleOptions): BundleOptions {
    return super.configureBundler({ ...options, payloadConverterPath: options.payloadConverterPath ?? payloadConverterPath() });
  }

  override configureWorker(options: WorkerOptions): WorkerOptions {
    return super.configureWorker({ ...WORKER_OPTIONS, ...options });
  }
}
