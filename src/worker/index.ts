export { type LoadedConfig, loadConfig } from './config.js';
export {
  type AgentActivitiesOptions,
  type CreateWorkerOptions,
  createAgentActivities,
  createHostWorker,
  createWorker,
  hostQueue,
  WORKER_OPTIONS,
} from './create-worker.js';
export { createDataConverter } from './data-converter.js';
export { createFileStorageDriver } from './file-storage-driver.js';
export { listSearchAttributes } from './list-search-attributes.js';
export { PerdurePlugin } from './plugin.js';
export { workflowBundle } from './workflow-bundle.js';
