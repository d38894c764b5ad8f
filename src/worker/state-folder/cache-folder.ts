import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what can be made again is kept: `perdure` in the user's cache folder, which nobody else can write to. */
export function cacheFolder(env: Readonly<NodeJS.ProcessEnv>): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'perdure');
}
