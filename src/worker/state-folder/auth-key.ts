import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createFileOnce } from '../../artifacts/durable-file.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { absent } from './presence.js';

const KEY_BYTES = 32;

/**
 * Reads the key of the owner of an embedded server. Undefined if there is none. Throws PerdureError `AUTH_KEY` (2) for a file that another
 * user could have written or read: its signatures would prove nothing.
 */
async function readAuthKey(path: string): Promise<Uint8Array | undefined> {
  const file = await open(path, 'r').catch(absent);
  if (!file) return undefined;
  try {
    const { mode, uid } = await file.stat();
    const own = process.getuid?.();
    const isOwn = own === undefined || own === 0 || uid === own;
    if (own !== undefined && ((mode & 0o077) !== 0 || !isOwn)) throw badKey(path, 'is open to other users');
    const text = (await file.readFile('utf8')).trim();
    if (!/^[0-9a-f]{64}$/u.test(text)) throw badKey(path, 'is no key');
    return Buffer.from(text, 'hex');
  } finally {
    await file.close();
  }
}

/** Reads the key, or makes one, mode 0600. Processes that make it at the same time get the same one. */
export async function openAuthKey(path: string): Promise<Uint8Array> {
  const found = await readAuthKey(path);
  if (found) return found;
  await createFileOnce(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
  const made = await readAuthKey(path);
  if (!made) throw badKey(path, 'disappeared');
  return made;
}

function badKey(path: string, problem: string): PerdureError {
  return new PerdureError('AUTH_KEY', `${path} ${problem}: remove it; the next worker makes a new one`, 2);
}
