import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cutText } from '../../contracts/failures.js';

/** Read in this order; a missing or empty one is left out. */
const NAMES = ['AGENTS.md', 'agents.md', 'CLAUDE.md'];

/** A longer file is cut with a mark (C-34). */
const FILE_BYTES_MAX = 20_000;

/** The instruction files of a workspace. Only regular files count: a link could lead out of the workspace. Never throws for a missing one. */
export async function readInstructionFiles(workspace: string | undefined): Promise<{ name: string; text: string }[]> {
  if (workspace === undefined) return [];
  const found: { name: string; text: string }[] = [];
  const seen = new Set<number>();
  for (const name of NAMES) {
    const path = join(workspace, name);
    const stat = await lstat(path).catch(() => undefined);
    // on a file system that ignores case, AGENTS.md and agents.md are one file
    if (!stat?.isFile() || seen.has(stat.ino)) continue;
    seen.add(stat.ino);
    const text = await readFile(path, 'utf8');
    if (text.trim() !== '') found.push({ name, text: cutText(text.toWellFormed(), FILE_BYTES_MAX) });
  }
  return found;
}
