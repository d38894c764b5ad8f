import { SimplePlugin } from '@temporalio/plugin';
import type { BundleOptions, WorkerOptions } from '@temporalio/worker';
import { AGENT_RUN } from '../contracts/handlers.js';
import { type AgentActivitiesOptions, createAgentActivities, WORKER_OPTIONS } from './create-worker.js';
import { createDataConverter } from './data-converter.js';
import { checkBundle, requireAgentExport } from './hosting/agent-export.js';
import { stateFolder } from './state-folder/state-folder.js';
import { keepsPromiseStacks, payloadConverterPath, preloadedModules } from './workflow-bundle.js';

/**
 * Adds agent runs to an existing worker: activities, data converter, worker options, and shared modules in its workflow bundle. Options
 * that the worker sets take precedence.
 * Its workflows file must contain `export { agentRun } from "perdure/workflows"`; without it, `Worker.create` and `bundleWorkflowCode` reject
 * with PerdureError `NO_AGENT_RUN` (2).
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
    if (options.workflowBundle) checkBundle(options.workflowBundle);
    return super.configureWorker({ ...WORKER_OPTIONS, ...options });
  }

  /**
   * All runs of a sandbox share the modules of this package. A bundle with a payload converter of its own keeps it: a payload that it
   * cannot decode then fails the workflow task.
   */
  override configureBundler(options: BundleOptions): BundleOptions {
    const preloadModules = [...preloadedModules(keepsPromiseStacks()), ...(options.preloadModules ?? [])];
    return super.configureBundler({
      ...options,
      preloadModules,
      payloadConverterPath: options.payloadConverterPath ?? payloadConverterPath(),
      webpackConfigHook: requireAgentExport(options),
    });
  }
}
