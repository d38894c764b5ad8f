export { type LoadedConfig, loadConfig } from './config/load-config.js';
export {
  type AgentActivitiesOptions,
  type CreateWorkerOptions,
  createAgentActivities,
  createHostWorker,
  createWorker,
  hostQueue,
  WORKER_OPTIONS,
} from './create-worker.js';
export { createDataConverter, type DataConverterOptions } from './data-converter.js';
export { PerdurePlugin } from './plugin.js';
export { listSearchAttributes } from './search-attributes.js';
export { createFileStorageDriver } from './storage/file-storage-driver.js';
export { workflowBundle } from './workflow-bundle.js';
