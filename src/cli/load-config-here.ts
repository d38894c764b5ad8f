import type { LoadedConfig } from '../worker/config.js';

/** The configuration of the current folder. Takes the keys out of this process's environment. Throws `CONFIG` (exit 2). */
export async function loadConfigHere(): Promise<LoadedConfig> {
  const { loadConfig } = await import('../worker/config.js');
  return await loadConfig({ cwd: process.cwd() });
}
