import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { AgentClient } from '../../src/client/index.js';
import type { Message } from '../../src/contracts/schemas/message.js';
import { defineTool } from '../../src/define/define-tool.js';
import { createDataConverter } from '../../src/worker/data-converter.js';
import { BlobStore } from '../../src/worker/storage/blob-store.js';
import { call, say } from '../support/agent-worker.js';
import { until, useWorkers } from '../support/use-workers.js';

const big = defineTool({
  name: 'big',
  description: 'Answers at length.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `${n} ${'x'.repeat(45_000)}`,
});

describe('createDataConverter', () => {
  const { worker, start } = useWorkers();
  let artifactsDir: string;
  beforeEach(async () => {
    artifactsDir = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
  });
  afterEach(() => rm(artifactsDir, { recursive: true, force: true }));

  it('a carried state above 256 KiB goes through files, the history stays small, and it replays with the same converter', async () => {
    const dataConverter = createDataConverter({ artifactsDir });
    const on = await worker({ model: (_, n) => (n <= 12 ? call(['big', { n }]) : say('ok')), tools: [big], dataConverter });
    const run = await start(on, { maxTurns: 20, bounds: { continueAsNewEvents: 120 } });
    // a client without storage waits through the continue-as-new: the event it reads on its way refers to a stored payload
    const outsider = await AgentClient.connect({ address: inject('temporalAddress') });
    const outside = outsider.get(run.runId).result();
    const executions = new Set<string>();
    await until(async () => {
      const { runId, status } = await run.handle.describe();
      executions.add(runId);
      return status.name !== 'RUNNING';
    }, 'the end');
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok', turns: 13 });
    expect(executions.size).toBe(2);
    const blobs = (await readdir(join(artifactsDir, 'blobs'), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(blobs.length).toBeGreaterThan(0);
    expect(await outside).toMatchObject({ reason: 'completed', turns: 13 });
    await outsider.close();
    const history = await run.handle.fetchHistory();
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    expect(JSON.stringify(started?.input).length).toBeLessThan(4_000);
    await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
  });
});

describe('createDataConverter: large inputs', () => {
  const { worker, start } = useWorkers();
  let artifactsDir: string;
  beforeEach(async () => {
    artifactsDir = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
  });
  afterEach(() => rm(artifactsDir, { recursive: true, force: true }));

  it('an input of 3 MB, more than the server takes, reaches the model whole and leaves a small history', async () => {
    const dataConverter = createDataConverter({ artifactsDir });
    const on = await worker({ model: () => say('ok'), dataConverter });
    const run = await start(on, { messages: bigMessages() });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(on.requests[0]?.messages.slice(0, MESSAGES)).toEqual(bigMessages());
    const history = await run.handle.fetchHistory();
    expect(JSON.stringify(history).length).toBeLessThan(60_000);
    await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
  });

  it('L9: a lost payload is said by its reference when the history is read again', async () => {
    const dataConverter = createDataConverter({ artifactsDir });
    const on = await worker({ model: () => say('ok'), dataConverter });
    const run = await start(on, { messages: bigMessages() });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const history = await run.handle.fetchHistory();
    await rm(join(artifactsDir, 'blobs'), { recursive: true });
    const replay = Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
    await expect(replay).rejects.toThrow(/BLOB_MISSING [0-9a-f]{64}/u);
  });
});

const MESSAGES = 60;

/** Messages of another run, 3 MB of them. */
function bigMessages(): Message[] {
  return Array.from({ length: MESSAGES }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${index} ${'x'.repeat(50_000)}` }],
  }));
}

describe('BlobStore', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-blobs-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('the same bytes are one file, and come back', async () => {
    const store = new BlobStore(folder);
    const bytes = new TextEncoder().encode('hello');
    const [first, second] = [await store.put(bytes), await store.put(bytes)];
    expect(first).toBe(second);
    expect(new TextDecoder().decode(await store.get(first))).toBe('hello');
  });

  it('L9: a missing or changed blob is said, never silently empty', async () => {
    const store = new BlobStore(folder);
    const ref = await store.put(new TextEncoder().encode('hello'));
    await writeFile(join(folder, 'blobs', ref.slice(0, 2), ref), 'hell');
    await expect(store.get(ref)).rejects.toThrow(`BLOB_CORRUPT ${ref}`);
    await expect(store.get('0'.repeat(64))).rejects.toThrow('BLOB_MISSING');
    await expect(store.get('../../etc/passwd')).rejects.toThrow('BLOB_CORRUPT');
    expect(await store.put(new TextEncoder().encode('hello'))).toBe(ref);
    expect(new TextDecoder().decode(await store.get(ref))).toBe('hello');
  });

  it('X24: blobs are for their owner alone, and only whole ones have a name', async () => {
    const store = new BlobStore(folder);
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.put(new TextEncoder().encode(`same ${index % 2}`))));
    const entries = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toSatisfy(
      (names: string[]) => names.length === 2 && names.every((name) => /^[0-9a-f]{64}$/u.test(name)),
    );
    const modes = entries.map(async (entry) => [entry.isFile(), (await stat(join(entry.parentPath, entry.name))).mode & 0o777]);
    for (const [isFile, mode] of await Promise.all(modes)) expect(mode).toBe(isFile ? 0o600 : 0o700);
  });
});
