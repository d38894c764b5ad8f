import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, link, lstat, mkdir, readdir, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { UNFINISHED_SUFFIX } from '../../src/tools/workspace/atomic-write.js';
import { createWriteFile } from '../../src/tools/write-file.js';
import { makePipe, SECRET, type TempWorkspace, tempWorkspace } from './support/temp-workspace.js';

const writeFile = createWriteFile([]);

const WRITER = fileURLToPath(new URL('fixtures/write-for-ever.mjs', import.meta.url));

describe('write_file', () => {
  test('a new file is written, its missing folders made, and the same call again leaves the same', async () => {
    const workspace = await tempWorkspace();
    const write = (): unknown => writeFile.execute({ path: 'a/b/c.txt', content: 'ü\nb\n' }, workspace.context());
    expect([await write(), await write()]).toEqual(['wrote a/b/c.txt: 2 lines, 5 bytes', 'wrote a/b/c.txt: 2 lines, 5 bytes']);
    expect(await workspace.read('a/b/c.txt')).toBe('ü\nb\n');
    expect(await readdir(join(workspace.root, 'a/b'))).toEqual(['c.txt']);
  });

  test('an existing file keeps its mode', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('run.sh', 'old');
    await chmod(join(workspace.root, 'run.sh'), 0o750);
    await writeFile.execute({ path: 'run.sh', content: 'new' }, workspace.context());
    expect((await stat(join(workspace.root, 'run.sh'))).mode & 0o777).toBe(0o750);
  });

  test('through a link that stays inside, the file it means is written and the link stays', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('real.txt', 'old');
    await symlink('real.txt', join(workspace.root, 'link.txt'));
    await writeFile.execute({ path: 'link.txt', content: 'new' }, workspace.context());
    expect(await workspace.read('real.txt')).toBe('new');
    expect((await lstat(join(workspace.root, 'link.txt'))).isSymbolicLink()).toBe(true);
  });

  test.each([
    ['folder', 'NOT_A_FILE'],
    ['.', 'NOT_A_FILE'],
    ['read-only.txt', 'READ_ONLY'],
    ['hard-link.txt', 'HARD_LINK'],
    ['pipe', 'NOT_A_FILE'],
    ['dangling', 'NOT_A_FILE'],
    ['link-out/new.txt', 'OUTSIDE_WORKSPACE'],
    ['link-out/deep/new.txt', 'OUTSIDE_WORKSPACE'],
    ['link-to-secret', 'OUTSIDE_WORKSPACE'],
    ['../outside/new.txt', 'OUTSIDE_WORKSPACE'],
    ['.perdure/worker.lock', 'DENIED'],
    ['file.txt/new.txt', 'NOT_A_FOLDER'],
    [`${'x'.repeat(300)}.txt`, 'BAD_PATH'],
  ])('B43, X9: writing %j is refused as %s, and nothing is changed or left behind', async (path, code) => {
    const workspace = await tempWorkspace();
    await prepareTargets(workspace);
    const before = await readdir(workspace.root, { recursive: true });
    await expect(writeFile.execute({ path, content: 'new' }, workspace.context())).rejects.toThrow(new RegExp(`^${code}: `, 'u'));
    expect(await readdir(workspace.root, { recursive: true })).toEqual(before);
    expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
    expect(await workspace.read('../outside/secret.txt')).toBe(SECRET);
    expect(await workspace.read('read-only.txt')).toBe('old');
  });

  test('B43: an existing file that nobody has read is replaced whole, also by the same call again', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'old text that is longer');
    for (const _ of [1, 2]) {
      expect(await writeFile.execute({ path: 'a.txt', content: 'new' }, workspace.context())).toContain('wrote a.txt');
      expect(await workspace.read('a.txt')).toBe('new');
    }
  });

  test('B43: 100 MB are refused with the limit, and the old text stays', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'old');
    const content = 'x'.repeat(100_000_000);
    await expect(writeFile.execute({ path: 'a.txt', content }, workspace.context())).rejects.toThrow(
      /^TOO_LARGE: .* the limit is 10\.0 MiB/u,
    );
    expect(await workspace.read('a.txt')).toBe('old');
  });

  test('SIGKILL in the middle of a write leaves the old text or the new one, never a part', async () => {
    const workspace = await tempWorkspace();
    const bytes = 4_000_000;
    let killedInside = 0;
    for (let round = 0; round < 12; round += 1) {
      const writer = startWriter(workspace.root, bytes);
      await vi.waitFor(() => expect(existsSync(join(workspace.root, 'data.txt'))).toBe(true), { timeout: 20_000, interval: 5 });
      await unfinishedSeen(workspace);
      await killed(writer);
      const text = await workspace.read('data.txt');
      expect(text.length).toBe(bytes);
      expect([...new Set(text)]).toHaveLength(1);
      if ((await unfinished(workspace)).length > killedInside) killedInside += 1;
      if (killedInside === 2) break;
    }
    expect(killedInside).toBe(2);
  });

  test('whoever reads while a file is written sees the old text or the new one, never a part', async () => {
    const workspace = await tempWorkspace();
    const bytes = 1_000_000;
    const writer = startWriter(workspace.root, bytes);
    await vi.waitFor(() => expect(existsSync(join(workspace.root, 'data.txt'))).toBe(true), { timeout: 20_000, interval: 5 });
    const seen = new Set<string>();
    for (let at = 0; at < 5_000 && (at < 200 || seen.size < 2); at += 1) {
      const text = await workspace.read('data.txt');
      const letter = text.slice(0, 1);
      // not toBe, which would print the file
      expect(text === letter.repeat(bytes)).toBe(true);
      seen.add(letter);
    }
    await killed(writer);
    expect([...seen].toSorted()).toEqual(['a', 'b']);
  });

  test('what a killed write left behind is swept by a later write, a fresh one is left alone', async () => {
    const workspace = await tempWorkspace();
    const [stale, fresh] = [`.a.txt.old${UNFINISHED_SUFFIX}`, `.a.txt.new${UNFINISHED_SUFFIX}`];
    await workspace.put(stale, 'half');
    await workspace.put(fresh, 'half');
    const anHourAgo = new Date(Date.now() - 3_600_000);
    await utimes(join(workspace.root, stale), anHourAgo, anHourAgo);
    await writeFile.execute({ path: 'a.txt', content: 'whole' }, workspace.context());
    expect((await readdir(workspace.root)).toSorted()).toEqual([fresh, 'a.txt']);
  });
});

async function prepareTargets(workspace: TempWorkspace): Promise<void> {
  await mkdir(join(workspace.root, 'folder'));
  await workspace.put('file.txt', 'old');
  await workspace.put('read-only.txt', 'old');
  await chmod(join(workspace.root, 'read-only.txt'), 0o444);
  await link(join(workspace.outside, 'secret.txt'), join(workspace.root, 'hard-link.txt'));
  makePipe(join(workspace.root, 'pipe'));
  await symlink('../outside/not-there', join(workspace.root, 'dangling'));
  await symlink('../outside', join(workspace.root, 'link-out'));
  await symlink('../outside/secret.txt', join(workspace.root, 'link-to-secret'));
}

function startWriter(root: string, bytes: number): ChildProcess {
  const writer = spawn(process.execPath, [WRITER, root, String(bytes)], { stdio: 'inherit' });
  onTestFinished(() => void writer.kill('SIGKILL'));
  return writer;
}

async function killed(writer: ChildProcess): Promise<void> {
  const exited = once(writer, 'exit');
  writer.kill('SIGKILL');
  await exited;
}

async function unfinished(workspace: TempWorkspace): Promise<string[]> {
  return (await readdir(workspace.root)).filter((name) => name.endsWith(UNFINISHED_SUFFIX));
}

/** Waits until the writer, now running, has begun one more file than were there. */
async function unfinishedSeen(workspace: TempWorkspace): Promise<void> {
  const before = new Set(await unfinished(workspace));
  await vi.waitFor(async () => expect((await unfinished(workspace)).some((name) => !before.has(name))).toBe(true), {
    timeout: 20_000,
    interval: 1,
  });
}
