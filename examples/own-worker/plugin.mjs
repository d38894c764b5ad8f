// The agents of this folder, for the worker, its clients and its bundle.
import { loadConfig, PerdurePlugin } from 'perdure/worker';

/** Creates the plugin. `searchAttributes`: the names that the server knows. Only workers need them. */
export async function createPlugin(searchAttributes = []) {
  return new PerdurePlugin({ config: await loadConfig({ cwd: process.cwd() }), stateDir: '.perdure', searchAttributes });
}
