import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, unlessThere } from '../contracts/files/file-errors.js';

/**
 * Writes a file, mode 0600, that survives a power loss: temporary file, sync, rename, sync of the folder. A reader sees the old content
 * or the new one, never an empty file. Rejects with the file system's error and then leaves no temporary file.
 */
export async function writeFileDurably(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx' });
    await renameDurably(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Writes a file, mode 0600, unless one has its name: of several writers, the first one wins. It survives a power loss, and a reader sees the
 * whole content or no file; on a file system without hard links, it may be empty for a moment. Rejects with the file system's error, and
 * then there is no file, unless another writer has made one.
 */
export async function createFileOnce(path: string, content: string): Promise<void> {
  if (existsSync(path)) return;
  const temporary = temporaryOf(path);
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx' });
    await sync(temporary);
    await link(temporary, path).catch(async (error: unknown) => {
      if (!LINKLESS.has(codeOf(error) ?? '')) return unlessThere(error);
      await createUnlinked(path, content);
    });
    await sync(dirname(path));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** How a file system without hard links refuses one. */
const LINKLESS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

async function createUnlinked(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch(unlessThere);
  if (!file) return;
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Gives a complete file its final name, so that after a power loss the name leads to the whole file or to none. */
export async function renameDurably(from: string, to: string): Promise<void> {
  // a file system may write the new name to disk before the content
  await sync(from);
  await rename(from, to);
  // and may lose the name of a synced file
  await sync(dirname(to));
}

function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}`);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
