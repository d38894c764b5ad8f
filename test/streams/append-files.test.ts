import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { STREAM_LIMITS } from '../../src/contracts/constants/limits.js';
import { AppendFiles } from '../../src/streams/append-files.js';
import { useTempFolder } from '../support/temp-folder.js';

const folder = useTempFolder('perdure-append-');

/** The files of the folder that this process has open. */
async function openFiles(): Promise<string[]> {
  const links = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return links.filter((path) => path.startsWith(folder.path)).toSorted();
}

describe('append files', () => {
  it('stays open between two writes, and is readable after each', async () => {
    const files = new AppendFiles();
    const path = join(folder.path, 'a');
    await files.append(path, 'one ');
    expect(await openFiles()).toEqual([path]);
    expect(await readFile(path, 'utf8')).toBe('one ');
    await files.append(path, 'two');
    expect(await openFiles()).toEqual([path]);
    expect(await readFile(path, 'utf8')).toBe('one two');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('closes a file that is not written any more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const files = new AppendFiles();
      await files.append(join(folder.path, 'a'), 'x');
      vi.advanceTimersByTime(STREAM_LIMITS.idleFileMs - 1);
      expect(files.size).toBe(1);
      vi.advanceTimersByTime(1);
      expect(files.size).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    await vi.waitFor(async () => expect(await openFiles()).toEqual([]), { timeout: 30_000 });
  });

  it('has a bounded number of files open, and writes to any number of them', async () => {
    const files = new AppendFiles();
    const paths = Array.from({ length: STREAM_LIMITS.openFilesMax + 20 }, (_, index) => join(folder.path, String(index)));
    for (const words of ['a', 'b']) await Promise.all(paths.map((path) => files.append(path, words)));
    expect(files.size).toBeLessThanOrEqual(STREAM_LIMITS.openFilesMax);
    expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(paths.map(() => 'ab'));
  });

  it('a write that fails is rejected, and the next one opens the file again', async () => {
    const files = new AppendFiles();
    await expect(files.append(join(folder.path, 'missing', 'a'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    await files.append(join(folder.path, 'a'), 'x');
    expect(files.size).toBe(1);
  });
});
