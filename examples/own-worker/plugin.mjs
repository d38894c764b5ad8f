// The agents of this folder, for the worker, its clients and its bundle.
import { loadConfig, PerdurePlugin } from 'perdure/worker';

/** Creates the plugin. `searchAttributes`: those of the server, which only a worker writes. */
export async function createPlugin(searchAttributes = []) {
  return new PerdurePlugin({ config: await loadConfig({ cwd: process.cwd() }), stateDir: '.perdure', searchAttributes });
}
