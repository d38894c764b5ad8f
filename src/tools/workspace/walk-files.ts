import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { UNFINISHED_SUFFIX } from './atomic-write.js';
import { isState, type Jail, openFolder, relativePath } from './jail.js';

/** Large folders that are not source code of the project. Entered only if a call names them as path. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Options of `walkFiles`. */
export interface WalkOptions {
  readonly jail: Jail;
  /** Relative to the workspace. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called once if the tree exceeds the limit of entries. */
  readonly onCut: () => void;
  /** Called for each folder that is skipped, because it cannot be read or its path is too long for the system. */
  readonly onUnreadable: () => void;
}

/**
 * Yields every regular file under a folder as a path relative to the workspace, sorted within each folder. Does not follow links.
 * Skips `.git`, `node_modules` and the state folder. Throws WorkspaceError, or the reason of the signal.
 */
export async function* walkFiles(options: WalkOptions): AsyncGenerator<string> {
  const left = { entries: WORKSPACE_LIMITS.walkEntriesMax };
  yield* walkFolder(options, await listFolder(options.jail, options.folder), left);
}

/** Lists the visible entries of a folder, sorted by name. */
export async function listFolder(jail: Jail, path: string): Promise<{ readonly folder: string; readonly entries: readonly Dirent[] }> {
  const folder = await openFolder(jail, path);
  try {
    const entries = await readdir(folder.at('.'), { withFileTypes: true });
    const visible = entries.filter((entry) => !entry.name.endsWith(UNFINISHED_SUFFIX) && !isState(jail, join(folder.real, entry.name)));
    return { folder: relativePath(jail, folder.real), entries: visible.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  } finally {
    await folder.handle.close();
  }
}

type Listed = Awaited<ReturnType<typeof listFolder>>;

async function* walkFolder(options: WalkOptions, { folder, entries }: Listed, left: { entries: number }): AsyncGenerator<string> {
  options.signal.throwIfAborted();
  for (const entry of entries) {
    if (left.entries === 0) return;
    left.entries -= 1;
    if (left.entries === 0) options.onCut();
    const child = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile()) yield child;
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) {
      const listed = await listIfReadable(options, child);
      if (listed) yield* walkFolder(options, listed, left);
    }
  }
}

async function listIfReadable({ jail, onUnreadable }: WalkOptions, path: string): Promise<Listed | undefined> {
  try {
    // a leading ~ is part of the name here, not a home folder
    return await listFolder(jail, `./${path}`);
  } catch {
    onUnreadable();
    return undefined;
  }
}
