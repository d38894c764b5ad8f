import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acquireFolderLock, folderLockHolder, withFolderLock } from '../../../src/worker/state-folder/folder-lock.js';
import { killLeftScripts, startScript } from '../support/script.js';
import { makeStateDir } from '../support/state-dir.js';

let folder = '';
let dir = '';
let journal = '';

beforeEach(async () => {
  folder = await makeStateDir();
  dir = join(folder, 'some.lock');
  journal = join(folder, 'journal');
});

afterEach(async () => {
  await killLeftScripts();
  await rm(folder, { recursive: true, force: true });
});

test('acquireFolderLock: of twelve processes never two hold it, and each gets its turns', async () => {
  const contenders = Array.from({ length: 12 }, () => startScript('lock-contender', [dir, journal, '8']));
  await Promise.all(contenders.map((contender) => contender.line('done', 50_000)));
  await Promise.all(contenders.map((contender) => contender.finish()));
  const entries = await journalEntries();
  expect(entries).toHaveLength(12 * 8 * 2);
  expect(overlaps(entries)).toEqual([]);
  expect(await readdir(dir)).toEqual([]);
});

test('acquireFolderLock: holders killed with SIGKILL give it to the next, never to two', async () => {
  const contenders = Array.from({ length: 10 }, () => startScript('lock-contender', [dir, journal, '1', 'hold']));
  const killed = new Set<number>();
  while (killed.size < contenders.length) {
    const holder = await vi.waitFor(
      () => {
        const found = contenders.find(({ pid, lines }) => !killed.has(pid) && lines.includes('holding'));
        if (!found) throw new Error('nobody holds the lock');
        return found;
      },
      { timeout: 20_000, interval: 5 },
    );
    expect(contenders.filter(({ pid, lines }) => !killed.has(pid) && lines.includes('holding'))).toHaveLength(1);
    killed.add(holder.pid);
    await holder.kill();
  }
  const entries = await journalEntries();
  expect(new Set(entries.map(({ pid }) => pid))).toEqual(killed);
  expect(entries.map(({ what }) => what)).toEqual(Array.from({ length: 10 }, () => 'in'));
  await withFolderLock(dir, {}, async () => {});
  expect((await readdir(dir)).filter((name) => name !== 'holder.json')).toEqual([]);
});

test('acquireFolderLock: two contenders of one process exclude each other', async () => {
  const first = await acquireFolderLock(dir);
  let second = false;
  const waiting = acquireFolderLock(dir).then((lock) => {
    second = true;
    return lock;
  });
  await vi.waitFor(async () => expect((await readdir(dir)).length).toBeGreaterThan(1), { timeout: 30_000 });
  expect(second).toBe(false);
  await first.release();
  await (await waiting).release();
  expect(await readdir(dir)).toEqual([]);
});

test('acquireFolderLock: an abort ends the waiting and leaves no file', async () => {
  const held = await acquireFolderLock(dir);
  const stopping = new AbortController();
  const waitedFor: number[] = [];
  const waiting = acquireFolderLock(dir, { signal: stopping.signal, onWait: (pid) => waitedFor.push(pid) });
  await vi.waitFor(() => expect(waitedFor).toEqual([process.pid]), { timeout: 30_000 });
  stopping.abort();
  await expect(waiting).rejects.toThrow('aborted');
  expect(await readdir(dir)).toHaveLength(1);
  await held.release();
});

test('folderLockHolder: tells the living holder and its note, and nobody after its death', async () => {
  const holder = startScript('lock-contender', [dir, journal, '1', 'hold']);
  await holder.line('holding');
  expect(await folderLockHolder(dir)).toEqual({ pid: holder.pid, note: { round: 0 } });
  await holder.kill();
  expect(await folderLockHolder(dir)).toBeUndefined();
});

test('acquireFolderLock: a process of another container is waited for while its file is fresh, and not for ever', async () => {
  const lock = await acquireFolderLock(dir);
  await lock.release();
  const foreign = join(dir, '1-1-00000000-00000000.json');
  await writeFile(foreign, '{}');
  const stopping = AbortSignal.timeout(300);
  await expect(acquireFolderLock(dir, { signal: stopping })).rejects.toThrow('aborted');
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(foreign, longAgo, longAgo);
  await (await acquireFolderLock(dir)).release();
  expect(await readdir(dir)).toEqual([]);
});

async function journalEntries(): Promise<{ what: string; pid: number }[]> {
  const lines = (await readFile(journal, 'utf8')).trim().split('\n');
  return lines.map((line) => {
    const [what = '', pid] = line.split(' ');
    return { what, pid: Number(pid) };
  });
}

/** Places in the journal where somebody went in while another was in. */
function overlaps(entries: readonly { what: string; pid: number }[]): string[] {
  const found: string[] = [];
  let inside: number | undefined;
  for (const { what, pid } of entries) {
    if (what === 'in' && inside !== undefined) found.push(`${pid} went in while ${inside} was in`);
    inside = what === 'in' ? pid : undefined;
  }
  return found;
}
