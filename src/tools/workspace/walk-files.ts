import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { UNFINISHED_SUFFIX } from './atomic-write.js';
import { isState, type Jail, openFolder, relativePath } from './jail.js';

/** Folders with thousands of files that are nobody's own: entered only when a call names them. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Where a walk goes. */
export interface WalkOptions {
  readonly jail: Jail;
  /** Relative to the workspace. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called once when the tree is too large to be walked whole. */
  readonly onCut: () => void;
}

/**
 * Every regular file under a folder, as paths relative to the workspace, sorted within each folder.
 * Links are not followed; `.git`, `node_modules` and the state folder are passed over. Throws WorkspaceError, and the signal's reason.
 */
export async function* walkFiles(options: WalkOptions): AsyncGenerator<string> {
  const left = { entries: WORKSPACE_LIMITS.walkEntriesMax };
  yield* walkFolder(options, options.folder, left);
}

/** The entries of one folder that tools may see, sorted by name. */
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

async function* walkFolder(options: WalkOptions, path: string, left: { entries: number }): AsyncGenerator<string> {
  options.signal.throwIfAborted();
  const { folder, entries } = await listFolder(options.jail, path);
  for (const entry of entries) {
    if (left.entries === 0) return;
    left.entries -= 1;
    if (left.entries === 0) options.onCut();
    const child = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile()) yield child;
    // a name beginning with ~ is a plain name here, not a home folder
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) yield* walkFolder(options, `./${child}`, left);
  }
}
