import { constants } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MEMORY_LIMITS } from '../../contracts/constants/limits.js';
import { hasErrno } from '../../contracts/files/file-errors.js';
import type { MemoryDefinition } from '../../define/worker/memory.js';
import { assertFile, type Jail, type OpenFolder, openFile, openFolder, openJail } from '../workspace/jail.js';
import { WorkspaceError } from '../workspace/workspace-error.js';
import { formatNote, type NewNote, noteMark } from './notes.js';

/** The folder of notes in a workspace. */
const IN_WORKSPACE = 'memory';

/** Where the notes of a run are. */
export interface MemoryPlace {
  readonly jail: Jail;
  /** Relative to the jail. */
  readonly folder: string;
}

/** A file of notes. */
export interface NoteFile {
  readonly name: string;
  /** Changes with the content of the file. */
  readonly version: string;
  /** In bytes. */
  readonly size: number;
}

/** Opens the memory of a run, and creates its folder. Throws WorkspaceError NO_WORKSPACE for a run without a workspace, in that scope. */
export async function openMemory({ scope = 'workspace', folder }: MemoryDefinition, workspace: string | undefined): Promise<MemoryPlace> {
  if (scope === 'workspace') {
    const jail = await openJail(workspace);
    const root = await openFolder(jail, '.');
    try {
      await mkdir(root.at(IN_WORKSPACE)).catch(ignoreExisting);
    } finally {
      await root.handle.close();
    }
    return { jail, folder: IN_WORKSPACE };
  }
  const own = folder ?? join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'perdure', 'memory');
  await mkdir(own, { recursive: true, mode: 0o700 });
  return { jail: await openJail(own), folder: '.' };
}

/**
 * Adds a note to the file of the month. A call that is repeated adds it once, also in the next month. Notes of several runs, also of several
 * processes, do not disturb each other. Returns the name of the file.
 */
export async function addNote(place: MemoryPlace, note: NewNote, now: Date): Promise<string> {
  const months = [now, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))].map((date) => date.toISOString().slice(0, 7));
  const files = (await listNoteFiles(place)).filter(({ name }) => FILE_NAME.test(name) && months.includes(name.slice(0, 7)));
  const mark = noteMark(note.key);
  for (const file of files) if ((await readNoteFile(place, file.name)).includes(mark)) return file.name;
  const name = nextFile(months[0] ?? '', files);
  const folder = await openFolder(place.jail, place.folder);
  try {
    await append(folder, name, formatNote(note, now));
  } finally {
    await folder.handle.close();
  }
  return name;
}

const FILE_NAME = /^\d{4}-\d{2}(?:-\d+)?\.md$/u;

/** The file that takes the next note: `2026-11.md`, and when it is full `2026-11-2.md`. */
function nextFile(month: string, files: readonly NoteFile[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${month}.md` : `${month}-${number}.md`;
    const size = files.find((file) => file.name === name)?.size ?? 0;
    if (size < MEMORY_LIMITS.fullFileBytes) return name;
  }
}

/** The Markdown files of a memory, the last name first: the newest month. */
export async function listNoteFiles({ jail, folder }: MemoryPlace): Promise<NoteFile[]> {
  const opened = await openFolder(jail, folder);
  try {
    const entries = await readdir(opened.at('.'), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md')).map(({ name }) => name);
    const newest = names.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, MEMORY_LIMITS.filesMax);
    const files = await Promise.all(newest.map((name) => versionOf(opened, name)));
    return files.filter((file) => file !== undefined);
  } finally {
    await opened.handle.close();
  }
}

/** The text of a file; the beginning of one that is too large. */
export async function readNoteFile({ jail, folder }: MemoryPlace, name: string): Promise<string> {
  const handle = await openFile(jail, folder === '.' ? name : `${folder}/${name}`);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, MEMORY_LIMITS.fileBytesMax));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Undefined for a file that is gone by now, or cannot be opened. */
async function versionOf(folder: OpenFolder, name: string): Promise<NoteFile | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(folder.at(name), flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { mtimeNs, size, ino } = await handle.stat({ bigint: true });
    return { name, version: `${ino}-${size}-${mtimeNs}`, size: Number(size) };
  } finally {
    await handle.close();
  }
}

/** One write with O_APPEND: the system puts it behind those of other processes. */
async function append(folder: OpenFolder, name: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(folder.at(name), flags, 0o666);
  try {
    const found = await handle.stat();
    assertFile(found, name);
    if (found.nlink > 1) throw new WorkspaceError('DENIED', `${name} has a second hard link, which may be outside the memory`);
    const bytes = Buffer.from(text);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) {
      // the disk is full: the part is taken back, unless somebody wrote behind it
      if ((await handle.stat()).size === found.size + bytesWritten) await handle.truncate(found.size);
      throw new WorkspaceError('NO_SPACE', `${name} could not be written: the disk is full`);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (!hasErrno(error, 'EEXIST')) throw error;
}
