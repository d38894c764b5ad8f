import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { cutText } from '../../contracts/text/redact.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';

/** A file with the instructions of a workspace for its agents. */
export interface InstructionFile {
  readonly name: string;
  readonly text: string;
}

/** The beginning of a file of a workspace. */
interface FileHead {
  /** The same for two names of one file. */
  readonly identity: string;
  /** Well-formed text without a byte order mark. */
  readonly text: string;
  /** True if the file is longer than what was read. */
  readonly isLonger: boolean;
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
  const { instructionFileBytesMax } = WORKSPACE_LIMITS;
  const heads = await readFileHeads(workspace, NAMES, instructionFileBytesMax);
  return heads.flatMap(({ name, text }) => (text.trim() === '' ? [] : [{ name, text: cutText(text, instructionFileBytesMax) }]));
}

/**
 * The beginnings of files of a workspace, in the order of the names, each file once. At most `bytesMax` bytes of a file are read, and one
 * more. Missing files and anything but regular files are left out. Rejects when an existing file cannot be read.
 */
export async function readFileHeads(
  workspace: string,
  names: readonly string[],
  bytesMax: number,
): Promise<(FileHead & { readonly name: string })[]> {
  const found = await Promise.all(names.map(async (name) => ({ name, head: await readHead(join(workspace, name), bytesMax) })));
  const seen = new Set<string>();
  return found.flatMap(({ name, head }) => {
    // on a file system that ignores case, AGENTS.md and agents.md are one file
    if (!head || seen.has(head.identity)) return [];
    seen.add(head.identity);
    return [{ name, ...head }];
  });
}

async function readHead(path: string, bytesMax: number): Promise<FileHead | undefined> {
  const file = await open(path, OPEN_FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (NO_FILE.has(error.code ?? '')) return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return undefined;
    // one byte more than the limit, to detect a longer file
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax + 1), 0, bytesMax + 1, 0);
    const text = cleanText(
      buffer
        .subarray(0, bytesRead)
        .toString('utf8')
        .replace(/^\uFEFF/u, ''),
    );
    return { identity: `${stat.dev}:${stat.ino}`, text, isLonger: bytesRead > bytesMax };
  } finally {
    await file.close();
  }
}
