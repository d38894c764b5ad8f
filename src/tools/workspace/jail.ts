import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { asWorkspaceError, hasErrno, shown, WorkspaceError } from './workspace-error.js';

/** The folder that tools may not leave. `root` and `stateFolder` are real paths: no symbolic link is left in them. */
export interface Jail {
  readonly root: string;
  /** The workspace as the run names it, which a model may write in front of a path. */
  readonly named: string;
  /** The project's own folder, closed to tools wherever it is. */
  readonly stateFolder: string;
  /** Where the system shows open descriptors as paths; absent where it does not, and paths are checked by identity instead. */
  readonly descriptors?: string;
}

/** A folder held open: what is done through `at` happens in this very folder, whatever is renamed meanwhile. */
export interface OpenFolder {
  readonly handle: FileHandle;
  readonly real: string;
  at(name: string): string;
}

const DESCRIPTORS = '/proc/self/fd';

/** Opens the workspace of a call. Throws NO_WORKSPACE when there is none or it is gone, DENIED when it lies in the state folder. */
export async function openJail(workspace: string | undefined): Promise<Jail> {
  if (workspace === undefined) throw new WorkspaceError('NO_WORKSPACE', 'this run has no workspace; start it with one to use files');
  const root = await realpath(workspace).catch((cause: unknown) => {
    throw new WorkspaceError('NO_WORKSPACE', 'the workspace folder of this run does not exist on this worker', { cause });
  });
  const own = await realpath(stateFolder()).catch(() => stateFolder());
  if (isWithin(own, root))
    throw new WorkspaceError('DENIED', "the workspace lies in the runner's own state folder, which is closed to tools");
  return { root, named: resolve(workspace), stateFolder: own, ...(existsSync(DESCRIPTORS) ? { descriptors: DESCRIPTORS } : {}) };
}

/**
 * The absolute path a model means, links not yet followed. Absolute paths are taken when they are inside.
 * Throws BAD_PATH or OUTSIDE_WORKSPACE.
 */
export function locate(jail: Jail, path: string): string {
  if (path.includes('\0')) throw new WorkspaceError('BAD_PATH', 'a path cannot hold a NUL character');
  if (path.startsWith('~'))
    throw outside(path, 'a home folder is not part of the workspace (for a file whose name begins with ~ write ./~name)');
  const meant = isAbsolute(path) ? resolve(path) : resolve(jail.root, path);
  const absolute = isWithin(jail.named, meant) ? join(jail.root, relative(jail.named, meant)) : meant;
  assertInside(jail, absolute, path);
  return absolute;
}

/** The real path of something that exists, inside the jail after all links are followed. */
export async function realInside(jail: Jail, path: string): Promise<string> {
  const real = await realpath(locate(jail, path)).catch((error: unknown) => {
    throw asWorkspaceError(error, path);
  });
  assertInside(jail, real, path);
  return real;
}

/** The real path of something to be written: an existing file, links followed, or a new name in a folder that exists. */
export async function realTarget(jail: Jail, path: string): Promise<string> {
  const absolute = locate(jail, path);
  try {
    return await realInside(jail, path);
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'NOT_FOUND') throw error;
  }
  if (await linkExists(absolute))
    throw new WorkspaceError('NOT_A_FILE', `${shown(path)} is a symbolic link to something that does not exist`);
  const folder = await realInside(jail, dirname(absolute));
  return join(folder, basename(absolute));
}

/**
 * Opens a regular file for reading. Pipes, sockets and devices are never opened, so nothing waits or is triggered;
 * the path is checked again after the open, so that a link put in its way meanwhile leads nowhere.
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

/** Opens a folder and holds it, checked like a file. The caller closes its handle. */
export async function openFolder(jail: Jail, path: string): Promise<OpenFolder> {
  const real = await realInside(jail, path);
  if (!(await stat(real)).isDirectory()) throw new WorkspaceError('NOT_A_FOLDER', `${shown(path)} is not a folder`);
  const handle = await openChecked(jail, real, { path, flags: constants.O_DIRECTORY });
  const base = jail.descriptors === undefined ? real : join(jail.descriptors, String(handle.fd));
  return { handle, real, at: (name) => join(base, name) };
}

/** The path of something inside as the model knows it: relative to the workspace, with forward slashes. */
export function relativePath(jail: Jail, real: string): string {
  return relative(jail.root, real).split(sep).join('/') || '.';
}

/** Refuses what is not a regular file, saying what it is. */
export function assertFile(found: { isFile(): boolean; isDirectory(): boolean }, path: string): void {
  if (found.isFile()) return;
  throw new WorkspaceError(
    'NOT_A_FILE',
    `${shown(path)} is ${found.isDirectory() ? 'a folder; use list_files' : 'a pipe, socket or device'}`,
  );
}

/** True for the state folder and all in it, wherever it lies. */
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
    // an atomic write replaced the file between open and check: what is open was inside
    return real.replace(/ \(deleted\)$/u, '');
  }
  const [held, there] = await Promise.all([handle.stat(), stat(opened)]);
  if (held.ino !== there.ino || held.dev !== there.dev)
    throw new WorkspaceError('FAILED', 'the file was replaced while it was opened; try again');
  return realpath(opened);
}

function assertInside(jail: Jail, absolute: string, path: string): void {
  if (!isWithin(jail.root, absolute)) throw outside(path, 'tools reach only files in the workspace; use a path relative to it');
  if (isState(jail, absolute)) throw new WorkspaceError('DENIED', `${shown(path)} belongs to the runner itself and is closed to tools`);
}

function isWithin(folder: string, path: string): boolean {
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

/** The name of the project's own folder: its server, leases and artifacts. No tool may see it. */
export const STATE_FOLDER_NAME = '.perdure';

/** Absolute path of this process's state folder: `PERDURE_DIR`, else `.perdure` of the current folder. It need not exist. */
function stateFolder(): string {
  const named = process.env.PERDURE_DIR;
  return named === undefined || named === '' ? join(process.cwd(), STATE_FOLDER_NAME) : resolve(named);
}
