import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { announcePresence, type LivePresence, livePresences, type Presence } from './presence.js';
import { readRecord, writeRecord } from './record-file.js';

/** A lock that this process holds until `release`, or until it exits. `release` is idempotent. */
export interface FolderLock {
  release(): Promise<void>;
}

/** Options of `acquireFolderLock`. @default no note, pollMsMax 50 */
export interface FolderLockOptions {
  /** JSON that `folderLockHolder` returns to other processes while the lock is held. */
  readonly note?: unknown;
  /** Stops waiting. The promise then rejects. */
  readonly signal?: AbortSignal;
  /** The longest pause between two checks: short for a lock held briefly, long for one held for hours. */
  readonly pollMsMax?: number;
  /** Called once, when another process is found to hold the lock. Must not throw. */
  readonly onWait?: (pid: number) => void;
  /** Receives a notice about an unreadable note. @default none */
  readonly say?: (line: string) => void;
}

/** The holder of a lock, with its note. */
export interface FolderLockHolder {
  readonly pid: number;
  readonly note: unknown;
}

const POLL_MS_MIN = 5;
const POLL_MS_MAX_DEFAULT = 50;
const HOLDER_FILE = 'holder.json';
const HolderFile = z.object({ presence: z.string(), note: z.unknown() });

/**
 * Waits until this process holds the lock represented by the folder `dir`. The death of a holder releases the lock. Needs no native module.
 *
 * Each contender first creates its own file, then lists the folder. It holds the lock only if it sees no other living contender.
 * Two contenders both create before they list, so at least one sees the other. Two holders are therefore impossible. Among several
 * contenders, the one with the smallest name keeps its file and checks again. The others remove their files and retry later.
 */
export async function acquireFolderLock(dir: string, options: FolderLockOptions = {}): Promise<FolderLock> {
  const { note, signal, pollMsMax = POLL_MS_MAX_DEFAULT, onWait, say } = options;
  let own: Presence | undefined;
  let notified = false;
  try {
    for (let round = 1; ; round += 1) {
      signal?.throwIfAborted();
      own ??= await announcePresence(dir);
      const { standing, ahead } = standingOf(own, await livePresences(dir));
      if (standing === 'alone') {
        if (note !== undefined) await writeRecord(join(dir, HOLDER_FILE), { presence: own.name, note });
        const held = own;
        own = undefined;
        let released: Promise<void> | undefined;
        // once: a second release would remove the note of the next holder
        return { release: () => (released ??= release(dir, held, note !== undefined)) };
      }
      if (standing !== 'first') {
        await own.remove();
        own = undefined;
      }
      if (ahead && !notified) onWait?.((await folderLockHolder(dir, say))?.pid ?? ahead.pid);
      notified ||= ahead !== undefined;
      await pause(pollPauseMs(round, pollMsMax), undefined, signal ? { signal } : {});
    }
  } finally {
    await own?.remove();
  }
}

/** Runs `work` while holding the lock, and always releases it. */
export async function withFolderLock<T>(dir: string, options: FolderLockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await acquireFolderLock(dir, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** The living holder of a lock taken with a note, or undefined. `say` receives a notice if the note is unreadable. */
export async function folderLockHolder(dir: string, say: (line: string) => void = () => {}): Promise<FolderLockHolder | undefined> {
  const file = await readRecord(join(dir, HOLDER_FILE), HolderFile, say);
  if (!file) return undefined;
  const { presence, note } = file;
  // names of presences are never reused, so a dead holder cannot be mistaken for a living one
  const holder = (await livePresences(dir)).find(({ name }) => name === presence);
  return holder ? { pid: holder.pid, note } : undefined;
}

/** `alone`: holds the lock · `first`: keeps its file and checks again · `behind`: removes its file · `lost`: its file was deleted, starts over. */
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

/** The pause before the next check: random, so that contenders do not collide repeatedly; growing, so that a long wait is cheap. */
function pollPauseMs(round: number, pollMsMax: number): number {
  const bound = Math.min(pollMsMax, 50 * Math.ceil(round / 10));
  return POLL_MS_MIN + Math.random() * (bound - POLL_MS_MIN);
}
