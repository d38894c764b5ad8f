import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { hasErrno } from '../../contracts/files/file-errors.js';
import { formatBytes } from '../../output/truncate-output.js';
import { assertFile, type Jail, locate, type OpenFolder, openFolder, realInside, realTarget } from './jail.js';
import { isProtected, type ProtectedPaths } from './protected-paths.js';
import { asWorkspaceError, shown, WorkspaceError } from './workspace-error.js';

/** The suffix of unfinished files. They are hidden from listings and searches. */
export const UNFINISHED_SUFFIX = '.perdure-tmp';

/**
 * Writes a text file atomically: after SIGKILL or a power loss, the file has the old or the new text. Uses a temporary file, fsync, rename
 * and fsync of the folder. Creates missing folders. Keeps mode and owner of an existing file. Throws WorkspaceError, also for a file that
 * is protected, is not a regular file, is read-only, or has a second hard link, which may be outside the workspace.
 */
export async function writeFileAtomic(jail: Jail, path: string, text: string, protectedPaths: ProtectedPaths = []): Promise<void> {
  const content = Buffer.from(text);
  if (content.length > WORKSPACE_LIMITS.fileBytesMax) {
    const max = formatBytes(WORKSPACE_LIMITS.fileBytesMax);
    throw new WorkspaceError('TOO_LARGE', `${shown(path)} would have ${formatBytes(content.length)}; the limit is ${max}`);
  }
  try {
    const meant = locate(jail, path);
    if (meant === jail.root) throw new WorkspaceError('NOT_A_FILE', `${shown(path)} is the workspace itself`);
    assertUnprotected(jail, meant, { path, protectedPaths });
    await makeFolders(jail, dirname(meant));
    const target = await realTarget(jail, path);
    assertUnprotected(jail, target, { path, protectedPaths });
    const folder = await openFolder(jail, dirname(target));
    try {
      assertUnprotected(jail, join(folder.real, basename(target)), { path, protectedPaths });
      await replaceIn(folder, { name: basename(target), path, content });
    } finally {
      await folder.handle.close();
    }
  } catch (error) {
    throw asWorkspaceError(error, path);
  }
}

/** Removes a file of the workspace. Throws as `writeFileAtomic` does, also `NOT_FOUND`. */
export async function removeFile(jail: Jail, path: string, protectedPaths: ProtectedPaths = []): Promise<void> {
  try {
    const target = await realTarget(jail, path);
    assertUnprotected(jail, target, { path, protectedPaths });
    const folder = await openFolder(jail, dirname(target));
    try {
      const name = basename(target);
      assertUnprotected(jail, join(folder.real, name), { path, protectedPaths });
      const found = await statIfThere(folder.at(name));
      if (!found) throw new WorkspaceError('NOT_FOUND', `${shown(path)} does not exist`);
      assertWritable(found, path);
      await rm(folder.at(name));
      await folder.handle.sync();
    } finally {
      await folder.handle.close();
    }
  } catch (error) {
    throw asWorkspaceError(error, path);
  }
}

interface Write {
  readonly name: string;
  /** The path as the model wrote it, for messages. */
  readonly path: string;
  readonly content: Buffer;
}

async function replaceIn(folder: OpenFolder, { name, path, content }: Write): Promise<void> {
  const old = await statIfThere(folder.at(name));
  if (old) assertWritable(old, path);
  await sweepUnfinished(folder, name);
  const unfinished = folder.at(`${unfinishedPrefix(name)}${randomBytes(6).toString('hex')}${UNFINISHED_SUFFIX}`);
  try {
    const handle = await open(unfinished, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, 0o666);
    try {
      await handle.writeFile(content);
      if (old) await keepModeAndOwner(handle, old);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, folder.at(name));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await folder.handle.sync();
}

/** Creates missing folders one by one, and checks that each is inside the jail before it creates the next. */
async function makeFolders(jail: Jail, path: string): Promise<void> {
  try {
    await realInside(jail, path);
    return;
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'NOT_FOUND') throw error;
  }
  await makeFolders(jail, dirname(path));
  const parent = await openFolder(jail, dirname(path));
  try {
    await mkdir(parent.at(basename(path)));
  } catch (error) {
    // another call of the run may have created it in the meantime
    if (!hasErrno(error, 'EEXIST')) throw error;
  } finally {
    await parent.handle.close();
  }
}

function assertUnprotected(
  jail: Jail,
  target: string,
  { path, protectedPaths }: { readonly path: string; readonly protectedPaths: ProtectedPaths },
): void {
  if (!isProtected(jail, target, protectedPaths)) return;
  throw new WorkspaceError('DENIED', `${shown(path)} can be changed only by the owner of this project, because it decides what runs`);
}

function assertWritable(old: Stats, path: string): void {
  assertFile(old, path);
  // checks the mode, because the system lets root write everything
  if ((old.mode & 0o222) === 0) throw new WorkspaceError('READ_ONLY', `${shown(path)} is read-only; change its mode before you write it`);
  if (old.nlink > 1) {
    throw new WorkspaceError(
      'HARD_LINK',
      `${shown(path)} has a second hard link, which may be outside the workspace; copy it to a new name instead`,
    );
  }
}

async function keepModeAndOwner(handle: FileHandle, old: Stats): Promise<void> {
  // only root can change the owner; for other users it is already the same
  if (process.getuid?.() === 0) await handle.chown(old.uid, old.gid);
  await handle.chmod(old.mode & 0o777);
}

async function sweepUnfinished(folder: OpenFolder, name: string): Promise<void> {
  for (const entry of await readdir(folder.at('.'))) {
    if (!entry.startsWith(unfinishedPrefix(name)) || !entry.endsWith(UNFINISHED_SUFFIX)) continue;
    const found = await statIfThere(folder.at(entry));
    if (found && Date.now() - found.mtimeMs > WORKSPACE_LIMITS.staleWriteMs) await rm(folder.at(entry), { force: true });
  }
}

function unfinishedPrefix(name: string): string {
  // a name has at most 255 bytes; the prefix leaves space for the suffix
  return `.${name.slice(0, 50)}.`;
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
