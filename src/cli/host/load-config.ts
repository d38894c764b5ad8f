import type { LoadedConfig } from '../../worker/config/load-config.js';
import type { CheckedInput } from '../../worker/config/preflight.js';

/** Loads the configuration of the current folder and removes the keys from the environment. Throws `CONFIG` (exit 2). */
export async function loadConfigHere(env: NodeJS.ProcessEnv = process.env): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../worker/config/load-config.js');
  return await loadConfig({ cwd: process.cwd(), env });
}

/** Loads the configuration and checks that the run can start with it. Throws `CONFIG`, `NO_MODEL` … (exit 2) before anything is started. */
export async function loadConfigFor(input: CheckedInput, env?: NodeJS.ProcessEnv): Promise<LoadedConfig> {
  const config = await loadConfigHere(env);
  const { checkRun } = await import('../../worker/config/preflight.js');
  await checkRun(config, input);
  return config;
}
