import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { z } from 'zod';
import { writeFileDurably } from '../../artifacts/durable-file.js';
import { unlessThere } from '../../contracts/files/file-errors.js';
import { absent } from './presence.js';

/** Writes a small record as JSON, mode 0600. A power loss leaves the old record or the new one. Rejects with the file system's error. */
export async function writeRecord(path: string, value: unknown): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(value)}\n`);
}

/**
 * Reads a record. Undefined if it is missing. A record that is empty, truncated or of another version, and one that another user could
 * have written, is renamed to `NAME.unreadable` and reported by one line, so that the next command works.
 */
export async function readRecord<T>(path: string, schema: z.ZodType<T>, say: (line: string) => void): Promise<T | undefined> {
  const found = await readUnlessMissing(path, schema);
  if (found === undefined) return undefined;
  if ('record' in found) return found.record;
  await setAside(path, schema, (aside) => say(`${path} ${found.problem}; it is ignored and kept as ${basename(aside)}`));
  return undefined;
}

type Read<T> = { readonly record: T } | { readonly problem: string };

async function readUnlessMissing<T>(path: string, schema: z.ZodType<T>): Promise<Read<T> | undefined> {
  const file = await open(path, 'r').catch(absent);
  if (!file) return undefined;
  try {
    if (!isTrusted(await file.stat())) return { problem: 'may have been written by another user' };
    return parse(await file.readFile('utf8'), schema);
  } finally {
    await file.close();
  }
}

/** Only this user and root may have written the file. Root trusts the files of the user whose folder it works in. */
function isTrusted({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  const own = process.getuid?.();
  if (own === undefined) return true;
  return (mode & 0o022) === 0 && (own === 0 || uid === own || uid === 0);
}

function parse<T>(text: string, schema: z.ZodType<T>): Read<T> {
  if (text.trim() === '') return { problem: 'is empty' };
  try {
    const { success, data } = schema.safeParse(JSON.parse(text));
    return success ? { record: data } : { problem: 'is not a record of this version' };
  } catch {
    return { problem: 'is truncated or not JSON' };
  }
}

async function setAside<T>(path: string, schema: z.ZodType<T>, onDone: (aside: string) => void): Promise<void> {
  const aside = `${path}.unreadable`;
  const taken = `${aside}.${randomBytes(4).toString('hex')}`;
  try {
    await rename(path, taken);
  } catch (error) {
    // another process removed it or set it aside
    return absent(error);
  }
  const replaced = await readUnlessMissing(taken, schema);
  if (replaced && 'record' in replaced) {
    // the owner replaced the record after it was read: it gets its name back, unless there is a newer one
    await link(taken, path).catch(unlessThere);
    await rm(taken, { force: true });
    return;
  }
  await rename(taken, aside);
  onDone(aside);
}
