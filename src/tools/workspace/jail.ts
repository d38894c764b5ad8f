import { AsyncLocalStorage } from 'node:async_hooks';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { hasErrno } from '../../contracts/files/file-errors.js';
import { asWorkspaceError, shown, WorkspaceError } from './workspace-error.js';

/** The folder that confines tools. `root` and `stateFolder` are real paths without symbolic links. */
export interface Jail {
  readonly root: string;
  /** The workspace path of the run, which a model may use as prefix of a path. */
  readonly named: string;
  /** The state folder of Perdure. Tools never have access to it. */
  readonly stateFolder: string;
  /** The folder of open descriptors (`/proc/self/fd`). Absent on systems without one, where paths are checked by inode instead. */
  readonly descriptors?: string;
}

/** An open folder. Paths from `at` refer to this folder even if it is renamed meanwhile. */
export interface OpenFolder {
  readonly handle: FileHandle;
  readonly real: string;
  at(name: string): string;
}

const DESCRIPTORS = '/proc/self/fd';

/** Opens the workspace of a call. Throws NO_WORKSPACE if there is none or it is missing, DENIED if it is inside the state folder. */
export async function openJail(workspace: string | undefined): Promise<Jail> {
  if (workspace === undefined)
    throw new WorkspaceError('NO_WORKSPACE', 'this run has no workspace; start a run with a workspace to use files');
  const root = await realpath(workspace).catch((cause: unknown) => {
    throw new WorkspaceError('NO_WORKSPACE', 'the workspace folder of this run does not exist on this worker', { cause });
  });
  const own = await realpath(stateFolder()).catch(() => stateFolder());
  if (isWithin(own, root))
    throw new WorkspaceError('DENIED', 'the workspace is inside the state folder of Perdure, which tools cannot access');
  return { root, named: resolve(workspace), stateFolder: own, ...(existsSync(DESCRIPTORS) ? { descriptors: DESCRIPTORS } : {}) };
}

/**
 * Resolves a path of a model to an absolute path, without following links. Accepts an absolute path inside the workspace.
 * Throws BAD_PATH or OUTSIDE_WORKSPACE.
 */
export function locate(jail: Jail, path: string): string {
  if (path.includes('\0')) throw new WorkspaceError('BAD_PATH', 'a path cannot contain a NUL character');
  if (path.startsWith('~'))
    throw outside(path, 'a home folder is not part of the workspace (for a file whose name starts with ~ write ./~name)');
  const resolved = isAbsolute(path) ? resolve(path) : resolve(jail.root, path);
  const absolute = isWithin(jail.named, resolved) ? join(jail.root, relative(jail.named, resolved)) : resolved;
  assertInside(jail, absolute, path);
  return absolute;
}

/** The real path of an existing file or folder, checked to be inside the jail after all links are followed. */
export async function realInside(jail: Jail, path: string): Promise<string> {
  const real = await realpath(locate(jail, path)).catch((error: unknown) => {
    throw asWorkspaceError(error, path);
  });
  assertInside(jail, real, path);
  return real;
}

/** The real path of a file to write: an existing file with links followed, or a new name in an existing folder. */
export async function realTarget(jail: Jail, path: string): Promise<string> {
  const absolute = locate(jail, path);
  try {
    return await realInside(jail, path);
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'NOT_FOUND') throw error;
  }
  if (await linkExists(absolute)) throw new WorkspaceError('NOT_A_FILE', `${shown(path)} is a symbolic link to a missing target`);
  const folder = await realInside(jail, dirname(absolute));
  return join(folder, basename(absolute));
}

/**
 * Opens a regular file for reading. Never opens pipes, sockets and devices, which could block or have side effects. Checks the path again
 * after the open, because it may have been replaced by a link in the meantime.
 */
export async function openFile(jail: Jail, path: string): Promise<FileHandle> {
  const real = await realInside(jail, path);
  const found = await lstat(real).catch((error: unknown) => {
    throw asWorkspaceError(error, path);
  });
  assertFile(found, path);
  const handle = await openChecked(jail, real, { path, flags: constants.O_NONBLOCK });
  try {
    assertFile(await handle.stat(), path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a folder, with the same checks as for a file. The caller closes the handle. */
export async function openFolder(jail: Jail, path: string): Promise<OpenFolder> {
  const real = await realInside(jail, path);
  if (!(await stat(real)).isDirectory()) throw new WorkspaceError('NOT_A_FOLDER', `${shown(path)} is not a folder`);
  const handle = await openChecked(jail, real, { path, flags: constants.O_DIRECTORY });
  const base = jail.descriptors === undefined ? real : join(jail.descriptors, String(handle.fd));
  // a part of the path may have been exchanged before the folder was open
  return { handle, real: await pathOfHandle(jail, handle, real), at: (name) => join(base, name) };
}

/** The path relative to the workspace, with forward slashes, for the model. */
export function relativePath(jail: Jail, real: string): string {
  return relative(jail.root, real).split(sep).join('/') || '.';
}

/** Throws NOT_A_FILE, with the kind of the entry, unless it is a regular file. */
export function assertFile(found: { isFile(): boolean; isDirectory(): boolean }, path: string): void {
  if (found.isFile()) return;
  throw new WorkspaceError(
    'NOT_A_FILE',
    `${shown(path)} is ${found.isDirectory() ? 'a folder; use list_files' : 'a pipe, socket or device'}`,
  );
}

/** True for the state folder and its content, and for every folder named `.perdure`. */
export function isState(jail: Jail, real: string): boolean {
  const parts = relative(jail.root, real).split(sep);
  return isWithin(jail.stateFolder, real) || parts.some((part) => part.toLowerCase() === STATE_FOLDER_NAME);
}

async function openChecked(jail: Jail, real: string, how: { readonly path: string; readonly flags: number }): Promise<FileHandle> {
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NOCTTY | how.flags).catch((error: unknown) => {
    throw asWorkspaceError(error, how.path);
  });
  try {
    assertInside(jail, await pathOfHandle(jail, handle, real), how.path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function pathOfHandle(jail: Jail, handle: FileHandle, opened: string): Promise<string> {
  if (jail.descriptors !== undefined) {
    const real = await readlink(join(jail.descriptors, String(handle.fd)));
    // an atomic write replaced the file between open and check; the open file was inside the jail
    return real.replace(/ \(deleted\)$/u, '');
  }
  const held = await handle.stat();
  // a folder can be exchanged and put back between two looks at a path: of many looks, all must agree
  for (let look = 1; look < LOOKS; look += 1) {
    const current = await stat(opened);
    if (held.ino !== current.ino || held.dev !== current.dev) throw replaced();
    if ((await realpath(opened)) !== opened) throw replaced();
  }
  return opened;
}

/** How often a path is compared with what was opened, on systems that do not tell the path of an open file. */
const LOOKS = 16;

function replaced(): WorkspaceError {
  return new WorkspaceError('FAILED', 'the file was replaced while it was being opened; try again');
}

function assertInside(jail: Jail, absolute: string, path: string): void {
  if (!isWithin(jail.root, absolute)) throw outside(path, 'tools can access only files in the workspace; use a path relative to it');
  if (isState(jail, absolute))
    throw new WorkspaceError('DENIED', `${shown(path)} is in the state folder of Perdure, which tools cannot access`);
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function linkExists(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || hasErrno(error, 'ENOTDIR')) return false;
    throw error;
  }
}

function outside(path: string, why: string): WorkspaceError {
  return new WorkspaceError('OUTSIDE_WORKSPACE', `${shown(path)} is outside the workspace: ${why}`);
}

/** The default name of the state folder. Hidden from all tools. */
export const STATE_FOLDER_NAME = '.perdure';

/** The state folder of the worker whose call runs, because several workers may share a process. */
const stateFolders = new AsyncLocalStorage<string>();

/** Does work in which tools cannot reach this state folder. @default `PERDURE_DIR`, else `.perdure` in the current folder */
export function withStateFolder<Result>(folder: string, work: () => Result): Result {
  return stateFolders.run(resolve(folder), work);
}

/** The absolute path of the state folder that no tool can access. It may not exist. */
function stateFolder(): string {
  const own = stateFolders.getStore();
  if (own !== undefined) return own;
  const named = process.env.PERDURE_DIR;
  return named === undefined || named === '' ? join(process.cwd(), STATE_FOLDER_NAME) : resolve(named);
}
