import { constants } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MEMORY_LIMITS } from '../../contracts/constants/limits.js';
import type { MemoryDefinition } from '../../define/worker/memory.js';
import { assertFile, type Jail, type OpenFolder, openFile, openFolder, openJail } from '../workspace/jail.js';
import { hasErrno, WorkspaceError } from '../workspace/workspace-error.js';
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
 * Adds a note to the file of the month. A call that is repeated adds it once. Notes of several runs, also of several processes, do not
 * disturb each other. Returns the name of the file.
 */
export async function addNote(place: MemoryPlace, note: NewNote, now: Date): Promise<string> {
  const name = `${now.toISOString().slice(0, 7)}.md`;
  const files = await listNoteFiles(place);
  const mark = noteMark(note.key);
  for (const file of files.slice(0, 2)) if ((await readNoteFile(place, file.name)).includes(mark)) return file.name;
  const folder = await openFolder(place.jail, place.folder);
  try {
    await append(folder, name, formatNote(note, now));
  } finally {
    await folder.handle.close();
  }
  return name;
}

/** The Markdown files of a memory, the last name first: the newest month. */
export async function listNoteFiles({ jail, folder }: MemoryPlace): Promise<NoteFile[]> {
  const opened = await openFolder(jail, folder);
  try {
    const entries = await readdir(opened.at('.'), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md')).map(({ name }) => name);
    const newest = names.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, MEMORY_LIMITS.filesMax);
    return await Promise.all(newest.map(async (name) => ({ name, version: await versionOf(opened, name) })));
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

async function versionOf(folder: OpenFolder, name: string): Promise<string> {
  const handle = await open(folder.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { mtimeNs, size, ino } = await handle.stat({ bigint: true });
    return `${ino}-${size}-${mtimeNs}`;
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
    await handle.write(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (!hasErrno(error, 'EEXIST')) throw error;
}
