import { createHash } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ExternalStorage } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import { PAYLOAD_LIMITS } from '../../src/contracts/constants/limits.js';
import type { Message } from '../../src/contracts/schemas/message.js';
import { createDataConverter } from '../../src/worker/data-converter.js';
import { FileBlobStore } from '../../src/worker/storage/blob-store.js';
import { say } from '../support/agent-worker.js';
import { useTempFolder } from '../support/temp-folder.js';
import { useWorkers } from '../support/use-workers.js';

const MIB = 1_024 * 1_024;

describe('createDataConverter: large inputs', () => {
  const { worker, start } = useWorkers();
  const artifactsDir = useTempFolder('perdure-artifacts-');

  it('an input of 3 MB, more than the server takes, reaches the model whole and leaves a small history', async () => {
    const dataConverter = createDataConverter({ artifactsDir: artifactsDir.path });
    const on = await worker({ model: () => say('ok'), dataConverter });
    const run = await start(on, { messages: bigMessages() });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(on.requests[0]?.messages.slice(0, MESSAGES)).toEqual(bigMessages());
    const history = await run.handle.fetchHistory();
    expect(JSON.stringify(history).length).toBeLessThan(60_000);
    await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
  });

  it('what an earlier version left to external storage is still read', async () => {
    const { externalStorage } = createDataConverter({ artifactsDir: artifactsDir.path });
    const earlier = new ExternalStorage({ drivers: externalStorage.drivers, payloadSizeThreshold: 256 * 1024 });
    const on = await worker({ model: () => say('ok'), dataConverter: { externalStorage: earlier } });
    const run = await start(on, { messages: bigMessages().slice(0, 8) });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const history = await run.handle.fetchHistory();
    expect(JSON.stringify(history).length).toBeLessThan(60_000);
    const dataConverter = createDataConverter({ artifactsDir: artifactsDir.path });
    await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
  });

  it('bytes that only claim to be compressed or stored are passed on as they are', async () => {
    const [codec] = createDataConverter({ artifactsDir: artifactsDir.path }).payloadCodecs;
    const forged = ['binary/perdure-gzip', 'binary/perdure-blob'].map((encoding) => ({
      metadata: { encoding: new TextEncoder().encode(encoding) },
      data: new TextEncoder().encode('../../etc/passwd'),
    }));
    expect(await codec?.decode(forged)).toEqual(forged);
  });

  it('a compressed payload that would fill the memory is passed on as it is', async () => {
    const [codec] = createDataConverter({ artifactsDir: artifactsDir.path }).payloadCodecs;
    expect((await codec?.decode([compressed(2)]))?.[0]?.data).toHaveLength(2 * MIB);
    const bomb = compressed(PAYLOAD_LIMITS.openedBytesMax / MIB);
    expect(bomb.data.length).toBeLessThan(MIB);
    expect(await codec?.decode([bomb])).toEqual([bomb]);
  });

  it('L9: a lost payload is said by its reference when the history is read again', async () => {
    const dataConverter = createDataConverter({ artifactsDir: artifactsDir.path });
    const on = await worker({ model: () => say('ok'), dataConverter });
    const run = await start(on, { messages: bigMessages(randomText) });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const history = await run.handle.fetchHistory();
    const blobs = join(artifactsDir.path, 'blobs');
    const replay = () => Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
    for (const name of await readdir(blobs)) await rm(join(blobs, name), { recursive: true });
    await expect(replay()).rejects.toThrow(/BLOB_MISSING [0-9a-f]{64}/u);
    // without the folder
    await rm(blobs, { recursive: true });
    await expect(replay()).rejects.toThrow(/BLOB_MISSING [0-9a-f]{64}/u);
  });
});

const MESSAGES = 60;

/** Messages of another run, 3 MB of them. */
function bigMessages(text: (n: number) => string = () => 'x'.repeat(50_000)): Message[] {
  return Array.from({ length: MESSAGES }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${index} ${text(index)}` }],
  }));
}

/** Text that does not compress, the same in every run. */
function randomText(n: number): string {
  return createHash('shake256', { outputLength: 37_500 }).update(String(n)).digest('base64');
}

describe('FileBlobStore', () => {
  const folder = useTempFolder('perdure-blobs-');

  it('the same bytes are one file, and come back', async () => {
    const store = new FileBlobStore(folder.path);
    const bytes = new TextEncoder().encode('hello');
    const [first, second] = [await store.put(bytes), await store.put(bytes)];
    expect(first).toBe(second);
    expect(new TextDecoder().decode(await store.get(first))).toBe('hello');
  });

  it('L9: a missing or changed blob is said, never silently empty', async () => {
    const store = new FileBlobStore(folder.path);
    const ref = await store.put(new TextEncoder().encode('hello'));
    await writeFile(join(folder.path, 'blobs', ref.slice(0, 2), ref), 'hell');
    await expect(store.get(ref)).rejects.toThrow(`BLOB_CORRUPT ${ref}`);
    await expect(store.get('0'.repeat(64))).rejects.toThrow('BLOB_MISSING');
    await expect(store.get('../../etc/passwd')).rejects.toThrow('BLOB_CORRUPT');
    expect(await store.put(new TextEncoder().encode('hello'))).toBe(ref);
    expect(new TextDecoder().decode(await store.get(ref))).toBe('hello');
  });

  it('X24: blobs are for their owner alone, and only whole ones have a name', async () => {
    const store = new FileBlobStore(folder.path);
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.put(new TextEncoder().encode(`same ${index % 2}`))));
    const entries = await readdir(join(folder.path, 'blobs'), { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toSatisfy(
      (names: string[]) => names.length === 2 && names.every((name) => /^[0-9a-f]{64}$/u.test(name)),
    );
    const modes = entries.map(async (entry) => [entry.isFile(), (await stat(join(entry.parentPath, entry.name))).mode & 0o777]);
    for (const [isFile, mode] of await Promise.all(modes)) expect(mode).toBe(isFile ? 0o600 : 0o700);
  });
});

/** A payload of so many mebibytes of zeros, compressed as our codec does: in parts, which is quick. */
function compressed(mebibytes: number) {
  const bytes = mebibytes * MIB;
  // field 2 of a payload, its data, and their length in groups of seven bits
  const head = Buffer.from([0x12, ...[0, 7, 14, 21].map((shift) => ((bytes >> shift) & 0x7f) | 0x80), bytes >> 28]);
  const part = gzipSync(Buffer.alloc(MIB));
  return {
    metadata: { encoding: new TextEncoder().encode('binary/perdure-gzip') },
    data: new Uint8Array(Buffer.concat([gzipSync(head), ...Array.from({ length: mebibytes }, () => part)])),
  };
}
