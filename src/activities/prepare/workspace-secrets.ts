import { realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import type { Config } from '../../define/define-config.js';
import { keysOfConfig } from '../../providers/access/key-references.js';

/** The key files of a config that are inside a workspace, with links resolved: its tools could read them. Never rejects. */
export async function secretsInWorkspace(config: Config, workspace: string): Promise<readonly string[]> {
  const files = keysOfConfig(config).flatMap((reference) => (reference.startsWith('file:') ? [reference.slice('file:'.length)] : []));
  const folder = await realOf(workspace);
  const inside = await Promise.all(files.map(async (file) => isWithin(folder, await realOf(file)) || isWithin(workspace, file)));
  return files.filter((_, index) => inside[index]);
}

function isWithin(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../'));
}

async function realOf(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}
