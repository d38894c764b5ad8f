import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { cutText } from '../../contracts/text/redact.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';

/** A file with the instructions of a workspace for its agents. */
export interface InstructionFile {
  readonly name: string;
  readonly text: string;
}

/** The file names, in the order of the prompt. */
const NAMES = ['AGENTS.md', 'agents.md', 'CLAUDE.md'];

/** No links, which could lead out of the workspace; not blocking, because opening a pipe would wait for its writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The error codes for a name without a regular file: missing, a link, or a socket. */
const NO_FILE = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR']);

/**
 * The instruction files of a workspace, each cut to 20 KB with a mark. Missing files, empty files and anything but regular files are left
 * out. Rejects with the file system's error when an existing file cannot be read.
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
  // one byte more than the limit, to detect a longer file
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
