import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { cutText } from '../../contracts/text/redact.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';

/** What people of a workspace tell its agents. */
export interface InstructionFile {
  readonly name: string;
  readonly text: string;
}

/** Read in this order. */
const NAMES = ['AGENTS.md', 'agents.md', 'CLAUDE.md'];

/** A link could lead out of the workspace, and opening a pipe to read would wait for its writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What opening says of a name that has no regular file: nothing there, a link, a socket. */
const NO_FILE = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR']);

/**
 * The instruction files of a workspace, each cut to 20 KB with a mark. A missing or an empty one is left out, and so is what is
 * no regular file. Rejects with the file system's error when one is there and cannot be read.
 */
export async function readInstructionFiles(workspace: string): Promise<InstructionFile[]> {
  const found: InstructionFile[] = [];
  const seen = new Set<string>();
  for (const name of NAMES) {
    const file = await openRegular(join(workspace, name));
    // on a file system that ignores case, AGENTS.md and agents.md are one file
    if (!file || seen.has(file.identity)) continue;
    seen.add(file.identity);
    if (file.text.trim() !== '') found.push({ name, text: file.text });
  }
  return found;
}

async function openRegular(path: string): Promise<{ readonly identity: string; readonly text: string } | undefined> {
  const file = await open(path, OPEN_FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (NO_FILE.has(error.code ?? '')) return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    return stat.isFile() ? { identity: `${stat.dev}:${stat.ino}`, text: await readHead(file) } : undefined;
  } finally {
    await file.close();
  }
}

async function readHead(file: FileHandle): Promise<string> {
  const { instructionFileBytesMax } = WORKSPACE_LIMITS;
  // one byte more than fits tells that there is more
  const { buffer, bytesRead } = await file.read(Buffer.alloc(instructionFileBytesMax + 1), 0, instructionFileBytesMax + 1, 0);
  return cutText(
    cleanText(
      buffer
        .subarray(0, bytesRead)
        .toString('utf8')
        .replace(/^\uFEFF/u, ''),
    ),
    instructionFileBytesMax,
  );
}
