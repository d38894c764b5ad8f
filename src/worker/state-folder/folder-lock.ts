import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { writeJson } from './atomic-json.js';
import { absent, announcePresence, type LivePresence, livePresences, type Presence } from './presence.js';

/** A lock that this process holds until `release`, or until it dies. */
export interface FolderLock {
  release(): Promise<void>;
}

/** How to wait for a lock. @default no note, pollMsMax 50 */
export interface FolderLockOptions {
  /** JSON that `folderLockHolder` tells others while the lock is held. */
  readonly note?: unknown;
  /** Ends the waiting; the promise then rejects. */
  readonly signal?: AbortSignal;
  /** Longest pause between two looks: short for locks held for a moment, long for those held for hours. */
  readonly pollMsMax?: number;
  /** Called once, when another process is first found in the way; must not throw. */
  readonly onWait?: (pid: number) => void;
}

/** Who holds a lock, and the note it left. */
export interface FolderLockHolder {
  readonly pid: number;
  readonly note: unknown;
}

const POLL_MS_MIN = 5;
const POLL_MS_MAX_DEFAULT = 50;
const HOLDER_FILE = 'holder.json';
const HolderFile = z.object({ presence: z.string(), note: z.unknown() });

/**
 * Waits until this process alone holds the lock that the folder `dir` stands for. Needs no native module; a holder's death releases it.
 *
 * Every contender first creates a file of its own and then lists the folder; it holds the lock only if it sees no other
 * living contender. Both of two contenders create before they list, so at least one sees the other: two holders are
 * impossible. Of several, the smallest name stays and looks again; the others take their file back and come again later.
 */
export async function acquireFolderLock(dir: string, options: FolderLockOptions = {}): Promise<FolderLock> {
  const { note, signal, pollMsMax = POLL_MS_MAX_DEFAULT, onWait } = options;
  let own: Presence | undefined;
  let told = false;
  try {
    for (let round = 1; ; round += 1) {
      signal?.throwIfAborted();
      own ??= await announcePresence(dir);
      const { standing, ahead } = standingOf(own, await livePresences(dir));
      if (standing === 'alone') {
        if (note !== undefined) await writeJson(join(dir, HOLDER_FILE), { presence: own.name, note });
        const held = own;
        own = undefined;
        return { release: () => release(dir, held, note !== undefined) };
      }
      if (standing !== 'first') {
        await own.remove();
        own = undefined;
      }
      if (ahead && !told) onWait?.((await folderLockHolder(dir))?.pid ?? ahead.pid);
      told ||= ahead !== undefined;
      await pause(pollPauseMs(round, pollMsMax), undefined, signal ? { signal } : {});
    }
  } finally {
    await own?.remove();
  }
}

/** Runs `work` while holding the lock, and releases it whatever happens. */
export async function withFolderLock<T>(dir: string, options: FolderLockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await acquireFolderLock(dir, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** The living holder of a lock taken with a note; undefined when there is none. */
export async function folderLockHolder(dir: string): Promise<FolderLockHolder | undefined> {
  const text = await readFile(join(dir, HOLDER_FILE), 'utf8').catch(absent);
  if (text === undefined) return undefined;
  const { presence, note } = HolderFile.parse(JSON.parse(text));
  // a presence's name never comes back: the file of a dead holder is not taken for a living one's
  const holder = (await livePresences(dir)).find(({ name }) => name === presence);
  return holder ? { pid: holder.pid, note } : undefined;
}

/** `alone`: the lock is ours · `first`: stay and look again · `behind`: give way · `lost`: our file was deleted by hand, begin anew. */
function standingOf(
  own: Presence,
  present: readonly LivePresence[],
): { standing: 'alone' | 'first' | 'behind' | 'lost'; ahead?: LivePresence } {
  if (!present.some(({ name }) => name === own.name)) return { standing: 'lost' };
  const [other, ...more] = present.filter(({ name }) => name !== own.name);
  if (!other) return { standing: 'alone' };
  const first = [other, ...more].every(({ name }) => own.name < name);
  return { standing: first ? 'first' : 'behind', ahead: other };
}

async function release(dir: string, held: Presence, hasNote: boolean): Promise<void> {
  if (hasNote) await rm(join(dir, HOLDER_FILE), { force: true });
  await held.remove();
}

/** Random, so that contenders do not meet again in step; growing, so that a long wait costs nothing. */
function pollPauseMs(round: number, pollMsMax: number): number {
  const bound = Math.min(pollMsMax, 50 * Math.ceil(round / 10));
  return POLL_MS_MIN + Math.random() * (bound - POLL_MS_MIN);
}
