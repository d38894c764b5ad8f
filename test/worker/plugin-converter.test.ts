import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import {
  type DataConverter,
  ExternalStorage,
  type Payload,
  type PayloadCodec,
  type StorageDriver,
  StorageDriverClaim,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import type { Message } from '../../src/contracts/schemas/message.js';
import type { RunResult } from '../../src/contracts/schemas/run.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';
import type { LoadedConfig } from '../../src/worker/config/load-config.js';
import { createWorker } from '../../src/worker/create-worker.js';
import { createDataConverter } from '../../src/worker/data-converter.js';
import { PerdurePlugin } from '../../src/worker/plugin.js';
import { historyText } from '../support/histories/history-text.js';
import { createTestWorker } from '../support/test-worker.js';
import { useOwnedConnections } from './support/owned-connections.js';

const { Payload: PayloadProto } = proto.temporal.api.common.v1;

/** What no history and no store may show. */
const SECRET = 'the word is xylophone';

describe('C2: a worker keeps its own codec and its own external storage', () => {
  const owned = useOwnedConnections();
  let root: string;
  let artifactsDir: string;
  beforeEach(() => {
    root = owned.folder;
    artifactsDir = join(root, 'state', 'artifacts');
  });

  it('PerdurePlugin: with an encrypting codec and a storage of its own, all that is large goes there, encrypted', async () => {
    const storage = new MemoryDriver();
    const dataConverter: DataConverter = {
      payloadCodecs: [new Encryption()],
      externalStorage: new ExternalStorage({ drivers: [storage], payloadSizeThreshold: 100_000 }),
    };
    const taskQueue = await pluginWorker(dataConverter);
    const { result, history } = await runLarge(taskQueue, pluginClient(dataConverter));
    expect(result).toMatchObject({ reason: 'completed', output: `said ${SECRET}` });
    expect(historyText(history)).not.toContain('xylophone');
    expect(historyText(history)).toContain('memory-of-host');
    expect(storage.payloads.size).toBeGreaterThan(0);
    expect([...storage.payloads.values()].map((bytes) => Buffer.from(bytes).includes('xylophone'))).not.toContain(true);
    expect(await blobs()).toEqual([]);
  });

  it('PerdurePlugin: with an encrypting codec alone, what is stored is encrypted', async () => {
    const dataConverter: DataConverter = { payloadCodecs: [new Encryption()] };
    const taskQueue = await pluginWorker(dataConverter);
    const { result, history } = await runLarge(taskQueue, pluginClient(dataConverter));
    expect(result).toMatchObject({ reason: 'completed', output: `said ${SECRET}` });
    expect(historyText(history)).not.toContain('xylophone');
    const stored = await blobs();
    expect(stored).not.toEqual([]);
    for (const path of stored) expect((await readFile(path)).includes('xylophone')).toBe(false);
  });

  it('createDataConverter makes the same converter for a client, and createWorker keeps that of its overrides', async () => {
    const storage = new MemoryDriver();
    const own = (): DataConverter => ({
      payloadCodecs: [new Encryption()],
      externalStorage: new ExternalStorage({ drivers: [storage], payloadSizeThreshold: 100_000 }),
    });
    const taskQueue = `converter-${randomUUID()}`;
    const overrides = { dataConverter: own(), workflowBundle: { codePath: inject('workflowBundlePath') } };
    owned.run(
      await createWorker({ connection: owned.nativeConnection, taskQueue, config: config(), stateDir: join(root, 'state'), overrides }),
    );
    const client = new Client({ connection: owned.connection, dataConverter: createDataConverter({ artifactsDir, dataConverter: own() }) });
    const { result, history } = await runLarge(taskQueue, client);
    expect(result).toMatchObject({ reason: 'completed', output: `said ${SECRET}` });
    expect(historyText(history)).not.toContain('xylophone');
    expect(await blobs()).toEqual([]);
  });

  it.each<[what: string, converter: () => DataConverter]>([
    ['by this version', () => createDataConverter({ artifactsDir, dataConverter: { payloadCodecs: [new Encryption()] } })],
    [
      'in external storage by an earlier one',
      () => {
        const { externalStorage } = createDataConverter({ artifactsDir });
        return {
          payloadCodecs: [new Encryption()],
          externalStorage: new ExternalStorage({ drivers: externalStorage.drivers, payloadSizeThreshold: 256 * 1_024 }),
        };
      },
    ],
  ])('what was stored in the state folder %s is read by a worker with a storage of its own', async (_what, converter) => {
    const externalStorage = new ExternalStorage({ drivers: [new MemoryDriver()] });
    const taskQueue = await pluginWorker({ payloadCodecs: [new Encryption()], externalStorage });
    const { result } = await runLarge(taskQueue, new Client({ connection: owned.connection, dataConverter: converter() }));
    expect(result).toMatchObject({ reason: 'completed', output: `said ${SECRET}` });
    expect(await blobs()).not.toEqual([]);
  });

  it('a storage of the host that takes only larger payloads leaves the others to the store of the workers', async () => {
    const storage = new MemoryDriver();
    const externalStorage = new ExternalStorage({ drivers: [storage], payloadSizeThreshold: 50_000_000 });
    const dataConverter = { externalStorage };
    const taskQueue = await pluginWorker(dataConverter);
    expect((await runLarge(taskQueue, pluginClient(dataConverter))).result).toMatchObject({ reason: 'completed' });
    expect(storage.payloads.size).toBe(0);
    expect(await blobs()).not.toEqual([]);
  });

  async function pluginWorker(dataConverter: DataConverter): Promise<string> {
    const taskQueue = `converter-${randomUUID()}`;
    owned.run(
      await createTestWorker({
        connection: owned.nativeConnection,
        taskQueue,
        dataConverter,
        workflowBundle: { codePath: inject('workflowBundlePath') },
        plugins: [plugin()],
      }),
    );
    return taskQueue;
  }

  /** A client of an application, which has the plugin too. */
  function pluginClient(dataConverter: DataConverter): Client {
    return new Client({ connection: owned.connection, dataConverter, plugins: [plugin()] });
  }

  function plugin(): PerdurePlugin {
    return new PerdurePlugin({ config: config(), stateDir: join(root, 'state'), searchAttributes: [] });
  }

  async function blobs(): Promise<string[]> {
    const found = await readdir(join(artifactsDir, 'blobs'), { recursive: true, withFileTypes: true }).catch(() => []);
    return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  }
});

function config(): LoadedConfig {
  const executor = { kind: 'stub', answer: `said ${SECRET}` } as const;
  const agents = { parrot: { description: 'Says it.', prompt: 'Say it.', executor } };
  return { config: { agents }, file: undefined, env: {}, keys: captureKeys({}), hash: 'test' };
}

/** A run with 3 MB of messages that do not compress, of an agent that needs no model. */
async function runLarge(taskQueue: string, { workflow }: Client): Promise<{ result: RunResult; history: object }> {
  const args = [{ task: SECRET, agent: 'parrot', messages: largeMessages() }];
  const handle = await workflow.start('agentRun', { taskQueue, workflowId: randomUUID(), args });
  return { result: (await handle.result()) as RunResult, history: await handle.fetchHistory() };
}

function largeMessages(): Message[] {
  return Array.from({ length: 60 }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${SECRET} ${text(index)}` }],
  }));
}

/** Text that does not compress, the same in every run. */
function text(n: number): string {
  return createHash('shake256', { outputLength: 37_500 }).update(String(n)).digest('base64');
}

const KEY = createHash('sha256').update('key').digest();
const ENCODING = 'binary/encrypted';

/** Encrypts each payload, as an application's codec does. */
class Encryption implements PayloadCodec {
  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', KEY, iv);
      const data = Buffer.concat([iv, cipher.update(PayloadProto.encode(payload).finish()), cipher.final(), cipher.getAuthTag()]);
      return { metadata: { encoding: new TextEncoder().encode(ENCODING) }, data };
    });
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      const { metadata, data } = payload;
      if (new TextDecoder().decode(metadata?.['encoding'] ?? new Uint8Array()) !== ENCODING || !data) return payload;
      const decipher = createDecipheriv('aes-256-gcm', KEY, data.subarray(0, 12)).setAuthTag(data.subarray(-16));
      const plain = PayloadProto.decode(Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]));
      return { metadata: plain.metadata ?? {}, ...(plain.data ? { data: plain.data } : {}) };
    });
  }
}

/** An application's own external storage. */
class MemoryDriver implements StorageDriver {
  readonly name = 'memory-of-host';
  readonly type = 'test.memory';
  readonly payloads = new Map<string, Uint8Array>();

  async store(_context: unknown, payloads: Payload[]): Promise<StorageDriverClaim[]> {
    return payloads.map((payload) => {
      const bytes = PayloadProto.encode(payload).finish();
      const ref = createHash('sha256').update(bytes).digest('hex');
      this.payloads.set(ref, bytes);
      return new StorageDriverClaim({ ref });
    });
  }

  async retrieve(_context: unknown, claims: StorageDriverClaim[]): Promise<Payload[]> {
    return claims.map(({ claimData }) => {
      const { metadata, data } = PayloadProto.decode(this.payloads.get(claimData['ref'] ?? '') ?? new Uint8Array());
      return { metadata: metadata ?? {}, ...(data ? { data } : {}) };
    });
  }
}
