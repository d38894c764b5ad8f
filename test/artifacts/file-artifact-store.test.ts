import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FileArtifactStore } from '../../src/artifacts/file-artifact-store.js';
import { claimsOfArtifactStores, type StoreUnderTest } from './support/artifact-store-claims.js';

const WRITER = fileURLToPath(new URL('fixtures/write-half-an-artifact.mjs', import.meta.url));

describe('FileArtifactStore', () => {
  claimsOfArtifactStores(async (): Promise<StoreUnderTest> => {
    const folder = await tempFolder();
    const pathOf = (ref: string): string => join(folder, ref.slice(7, 9), ref.slice(7));
    return {
      store: new FileArtifactStore(folder),
      another: () => new FileArtifactStore(folder),
      damage: (ref, bytes) => writeFile(pathOf(ref), bytes),
      remove: (ref) => rm(pathOf(ref)),
      names: () => filesIn(folder),
    };
  });

  test('L9: what cannot be opened is not said to be lost', async () => {
    const folder = await tempFolder();
    // the folder of this hash is a file: what is below it cannot be looked up
    await writeFile(join(folder, 'ab'), '');
    const read = new FileArtifactStore(folder).read(`sha256:${'ab'.repeat(32)}`, { offset: 0, bytes: 10 });
    await expect(read).rejects.toThrow(/^STORE_FAILED: sha256:(?:ab){32} could not be opened \(ENOTDIR\)$/u);
  });

  test('files are 0600 in folders of 0700', async () => {
    const folder = join(await tempFolder(), 'outputs');
    const { ref } = await new FileArtifactStore(folder).put().finish();
    const path = join(folder, ref.slice(7, 9), ref.slice(7));
    const modes = await Promise.all([folder, join(folder, ref.slice(7, 9)), path].map(async (it) => (await stat(it)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });

  test('a large file that was damaged is noticed on any page, also after it was read once', async () => {
    const folder = await tempFolder();
    const store = new FileArtifactStore(folder);
    const writer = store.put();
    await writer.write(Buffer.alloc(3_000_000, 'a'));
    const { ref } = await writer.finish();
    expect((await store.read(ref, { offset: 2_000_000, bytes: 10 })).bytes.toString()).toBe('aaaaaaaaaa');
    await writeFile(join(folder, ref.slice(7, 9), ref.slice(7)), Buffer.alloc(2_500_000, 'a'));
    await expect(store.read(ref, { offset: 0, bytes: 10 })).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
  });

  test('a damaged file is healed by the next output with that content', async () => {
    const folder = await tempFolder();
    const store = new FileArtifactStore(folder);
    const keep = async (): Promise<string> => {
      const writer = store.put();
      await writer.write(Buffer.from('content'));
      return (await writer.finish()).ref;
    };
    const ref = await keep();
    await writeFile(join(folder, ref.slice(7, 9), ref.slice(7)), 'damaged');
    await keep();
    expect((await store.read(ref, { offset: 0, bytes: 10 })).bytes.toString()).toBe('content');
  });

  test('what a killed writer left is swept ten minutes later, and what a living one writes is not', async () => {
    const folder = await tempFolder();
    const child = spawn(process.execPath, [WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const left = await filesIn(folder);
    expect(left).toHaveLength(1);
    const living = new FileArtifactStore(folder).put();
    await living.write(Buffer.from('living'));
    const elevenMinutesAgo = Date.now() / 1_000 - 11 * 60;
    await utimes(join(folder, 'unfinished', left[0] ?? ''), elevenMinutesAgo, elevenMinutesAgo);
    const later = new FileArtifactStore(folder).put();
    await later.write(Buffer.from('later'));
    expect(await filesIn(folder)).toHaveLength(2);
    await later.finish();
    expect((await living.finish()).bytes).toBe(6);
  });

  test('a folder that cannot be written fails the writer and nothing else', async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, 'a-file'), '');
    const writer = new FileArtifactStore(join(folder, 'a-file')).put();
    await expect(writer.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(writer.finish()).rejects.toMatchObject({ code: 'ENOTDIR' });
    await writer.discard();
  });

  test('a folder that was removed is made again', async () => {
    const folder = await tempFolder();
    const store = new FileArtifactStore(folder);
    await store.put().finish();
    await rm(folder, { recursive: true });
    expect((await store.put().finish()).bytes).toBe(0);
  });
});

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
