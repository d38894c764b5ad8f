import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ArtifactsBucket } from '../../../src/define/worker/artifacts.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import type { LoadedConfig } from '../../../src/worker/config/load-config.js';
import { createWorker } from '../../../src/worker/create-worker.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { createPayloadStore, type PayloadStore } from '../../../src/worker/storage/payload-store.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, type TestRun, untilAborted, useWorkers } from '../../support/use-workers.js';
import { type S3Server, startS3Server } from './support/s3-server.js';

const REGION = 'us-east-1';
const KEYS = { LARGE_KEY: '', LARGE_SECRET: '' };

describe('C1: large payloads in a bucket', () => {
  const { worker, start } = useWorkers();
  let server: S3Server;
  let client: S3Client;
  let prefix: string;
  let root: string;
  beforeAll(async () => {
    server = await startS3Server();
    const { endpoint, accessKeyId, secretAccessKey } = server;
    Object.assign(KEYS, { LARGE_KEY: accessKeyId, LARGE_SECRET: secretAccessKey });
    const credentials = { accessKeyId, secretAccessKey };
    client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials, requestChecksumCalculation: 'WHEN_REQUIRED' });
  });
  beforeEach(async () => {
    prefix = `${randomUUID()}/`;
    root = await mkdtemp(join(tmpdir(), 'perdure-large-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  test('a run whose carried state is in the bucket is taken over by a host with another state folder, and replays', async () => {
    const on = { taskQueue: `s3-${randomUUID()}`, contextWindow: 50_000_000, model: lookUntil(TURNS) };
    const lastCall = latch();
    const first = await worker({ ...on, tools: [look({ heldWith: () => lastCall.open() })], dataConverter: converterOf('first') });
    const run = await start(first, { messages: largeMessages(), bounds: { continueAsNewEvents: 20 } });
    await lastCall.opened;
    expect((await encodings(run.handle)).at(-1)).toBe('binary/perdure-blob');
    // its cache of workflows ends with it
    await first.shutdown();
    await worker({ ...on, tools: [look({})], dataConverter: converterOf('second') });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'moved', turns: TURNS + 1 });

    expect(await readdir(root)).toEqual([]);
    expect((await keysUnder(prefix)).every((key) => key.startsWith(`${prefix}blobs/`))).toBe(true);
    const history = await run.handle.client.getHandle(run.runId).fetchHistory();
    const replay = () =>
      Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter: converterOf('third') }, history);
    await replay();
    for (const Key of await keysUnder(prefix)) await client.send(new DeleteObjectCommand({ Bucket: server.bucket, Key }));
    await expect(replay()).rejects.toThrow(/BLOB_MISSING [0-9a-f]{64}/u);
  });

  test('what workers stored in their state folder before they had a bucket is still read', async () => {
    const artifactsDir = join(root, 'artifacts');
    const before = createDataConverter({ artifactsDir });
    const old = new Client({ connection: (await worker({ model: () => say('ok') })).client.connection, dataConverter: before });
    const now = await worker({
      model: () => say('ok'),
      dataConverter: createDataConverter({ artifacts: bucket(), artifactsDir, keys: keys() }),
    });
    const options = { taskQueue: now.taskQueue, workflowId: randomUUID(), args: [{ task: 'go', messages: largeMessages() }] };
    expect(await old.workflow.execute('agentRun', options)).toMatchObject({ reason: 'completed' });
    expect(await readdir(artifactsDir)).toEqual(['blobs']);
  });

  test('the same bytes are one object; a missing or changed one is reported with its reference', async () => {
    const { blobs } = store();
    const bytes = new TextEncoder().encode('hello');
    const refs = await Promise.all([blobs.put(bytes), blobs.put(bytes)]);
    const ref = await blobs.put(bytes);
    expect(new Set([...refs, ref]).size).toBe(1);
    expect(await keysUnder(prefix)).toEqual([`${prefix}blobs/${ref}`]);
    expect(new TextDecoder().decode(await blobs.get(ref))).toBe('hello');
    await expect(blobs.get('0'.repeat(64))).rejects.toMatchObject({
      name: 'MissingBlobError',
      message: expect.stringContaining(`BLOB_MISSING ${'0'.repeat(64)}`),
    });
    await client.send(new PutObjectCommand({ Bucket: server.bucket, Key: `${prefix}blobs/${ref}`, Body: 'jello' }));
    await expect(blobs.get(ref)).rejects.toThrow(`BLOB_CORRUPT ${ref}`);
    await expect(blobs.get('../../etc/passwd')).rejects.toThrow('BLOB_CORRUPT');
  });

  test('without its server a blob is not missing: the read fails, and is tried again', async () => {
    const gone = createPayloadStore({ artifacts: { ...bucket(), endpoint: 'http://127.0.0.1:9' }, keys: keys() });
    const failed = gone.blobs.get('0'.repeat(64));
    await expect(failed).rejects.toMatchObject({ name: 'Error', message: expect.stringContaining('BLOB_MISSING') });
    await expect(gone.blobs.put(Buffer.from('x'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('a bucket is one store under whichever address; another prefix is another store', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => store().id()));
    expect(new Set(ids).size).toBe(1);
    const { endpoint } = server;
    expect(await store({ endpoint: endpoint.replace('127.0.0.1', 'localhost') }).id()).toBe(ids[0]);
    expect(await store({ prefix: `${prefix}other/` }).id()).not.toBe(ids[0]);
    expect(await keysUnder(prefix)).toEqual([`${prefix}other/store-id`, `${prefix}store-id`]);
  });

  test.each<[what: string, wrong: () => Partial<ArtifactsBucket>, reason: string]>([
    ['that does not exist', () => ({ bucket: 'no-such-bucket' }), 'NoSuchBucket'],
    [
      'with a wrong secret',
      () => ({ credentials: { accessKeyId: 'env:LARGE_KEY', secretAccessKey: 'env:WRONG' } }),
      'SignatureDoesNotMatch',
    ],
    ['without a secret', () => ({ credentials: { accessKeyId: 'env:LARGE_KEY', secretAccessKey: 'env:NONE' } }), 'SECRET_MISSING env:NONE'],
    ['whose server is down', () => ({ endpoint: 'http://127.0.0.1:9' }), 'ECONNREFUSED'],
  ])('a worker with a bucket %s does not start, and says why', async (_what, wrong, reason) => {
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const config: LoadedConfig = {
      config: { artifacts: { ...bucket(), ...wrong() } },
      file: undefined,
      env: {},
      keys: keys(),
      hash: 'test',
    };
    const created = createWorker({ connection, taskQueue: randomUUID(), config, stateDir: root });
    await expect(created).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      exitCode: 5,
      message: expect.stringMatching(new RegExp(`^large payloads cannot be stored in bucket ".*${reason}`, 'u')),
    });
    await connection.close();
  });

  function bucket(): ArtifactsBucket {
    const credentials = { accessKeyId: 'env:LARGE_KEY', secretAccessKey: 'env:LARGE_SECRET' };
    return { bucket: server.bucket, prefix, region: REGION, endpoint: server.endpoint, credentials };
  }

  function store(other: Partial<ArtifactsBucket> = {}): PayloadStore {
    return createPayloadStore({ artifacts: { ...bucket(), ...other }, keys: keys() });
  }

  /** The data converter of a host with a state folder of its own, and the keys of its environment. */
  function converterOf(host: string) {
    return createDataConverter({ artifacts: bucket(), artifactsDir: join(root, host), keys: keys() });
  }

  async function keysUnder(folder: string): Promise<string[]> {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: server.bucket, Prefix: folder }));
    return Contents.flatMap(({ Key }) => Key ?? []);
  }
});

const TURNS = 4;

/** A model that calls a tool in each turn but the last one. */
function lookUntil(turns: number) {
  return async ({ messages }: ModelRequest): Promise<ModelAnswer> => {
    const turn = messages.filter(({ role }) => role === 'assistant').length + 1;
    return turn <= turns ? call(['look', { n: turn }]) : say('moved');
  };
}

/** Tells of the call of the last turn, and holds it until it is aborted. */
function look({ heldWith }: { readonly heldWith?: () => void }) {
  return defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.strictObject({ n: z.number() }),
    effect: 'read',
    execute: async ({ n }, { signal }) => {
      if (heldWith === undefined || n < TURNS) return `saw ${n}`;
      heldWith();
      return await untilAborted(signal);
    },
  });
}

/** How the arguments of the present execution of a run are encoded on the server. */
async function encodings({ client, workflowId }: TestRun['handle']): Promise<string[]> {
  const { events } = await client.getHandle(workflowId).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return payloads.map(({ metadata }) => new TextDecoder().decode(metadata?.['encoding'] ?? new Uint8Array()));
}

function keys() {
  const env = { ...KEYS, WRONG: 'wrong' };
  return captureKeys(
    env,
    ['LARGE_KEY', 'LARGE_SECRET', 'WRONG', 'NONE'].map((name) => `env:${name}`),
  );
}

function largeMessages(): RunInput['messages'] {
  return Array.from({ length: 60 }, (_, index) => {
    const text = createHash('shake256', { outputLength: 37_500 }).update(String(index)).digest('base64');
    return { id: `m${index}`, role: 'user', parts: [{ type: 'text', text: `${index} ${text}` }] };
  });
}
