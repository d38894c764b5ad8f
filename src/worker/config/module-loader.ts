import { join } from 'node:path';
import type { Jiti } from 'jiti';
import { cacheFolder } from '../state-folder/state-folder.js';

/**
 * A loader of config files and plugins. TypeScript needs no build step, a module in any folder can import `perdure` and `zod` and gets this
 * package's copies, and a changed file is loaded again in the same process.
 */
export async function moduleLoader(env: Readonly<NodeJS.ProcessEnv>): Promise<Jiti> {
  // imported only for a config file, because the import takes 0.3 s
  const [{ createJiti }, perdure, zod] = await Promise.all([import('jiti'), import('../../define/index.js'), import('zod')]);
  return createJiti(import.meta.url, {
    virtualModules: { perdure, zod },
    moduleCache: false,
    // the default cache folder is shared by all users of the machine, who could plant code there
    fsCache: join(cacheFolder(env), 'config'),
  });
}

/** The loader appends the position of a syntax error to the message. It may be in an imported file; its columns start at 0. */
export function describeImportError(file: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /^ (.+):(\d+):(\d+)$/mu.exec(message);
  if (!message.startsWith('ParseError:') || !position) return `${file}: ${firstLine(error)}`;
  const reason = firstLine(error)
    .replace(/^ParseError:\s*/u, '')
    .trim();
  return `${position[1]}:${position[2]}:${Number(position[3]) + 1}: ${reason}`;
}

/** The first line of an error's message. */
export function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
