import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { ArtifactsDefinition } from '../../../src/define/worker/artifacts.js';
import { newWorkerIdentity, processIdentity } from '../../../src/process/process-identity.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import type { LoadedConfig } from '../../../src/worker/config/load-config.js';
import { type CreateWorkerOptions, createWorker } from '../../../src/worker/create-worker.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { PerdurePlugin } from '../../../src/worker/plugin.js';
import { checkMissingPayloads } from '../../../src/worker/storage/missing-payloads.js';
import { payloadStoreOf } from '../../../src/worker/storage/payload-store.js';
import { checkQueueStore, identityWithStore, storeIdOf } from '../../../src/worker/storage/queue-store.js';
import { until } from '../../support/use-workers.js';

interface HostOptions extends Partial<Pick<CreateWorkerOptions, 'taskQueue' | 'identity' | 'say'>> {
  readonly artifacts?: ArtifactsDefinition;
}

interface CreatedHost {
  readonly worker: Worker;
  readonly own: NativeConnection;
}

describe('C1: the workers of a queue have one store of large payloads', () => {
  let root: string;
  let taskQueue: string;
  let connection: Connection;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'perdure-stores-'));
    taskQueue = `stores-${randomUUID()}`;
    connection = await Connection.connect({ address: inject('temporalAddress') });
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await connection.close();
    await rm(root, { recursive: true, force: true });
  });

  it('a worker with another state folder is refused while another one polls, and says who and what to do', async () => {
    await startHost('a');
    await untilPolled();
    const problem =
      `worker ${process.pid}@${hostname()} polls queue ${taskQueue} and stores large payloads elsewhere, ` +
      `not in folder "${root}/b/artifacts". Set artifacts in both configs `;
    await expect(startHost('b')).rejects.toMatchObject({
      code: 'STORE_DIFFERS',
      exitCode: 2,
      message: expect.stringContaining(problem),
    });
    await startHost('b', { taskQueue: `${taskQueue}-other` });
  });

  it('a worker with the same state folder is one more worker', async () => {
    await startHost('a');
    await untilPolled();
    await startHost('a', { identity: 'second' });
    await untilPolled(2);
    expect(new Set((await pollers()).map(({ identity }) => storeIdOf(identity ?? '')))).toEqual(new Set([expect.any(String)]));
  });

  it('a shared folder is the same store on each host, wherever it is mounted; another folder is not', async () => {
    await mkdir(join(root, 'shared'));
    await symlink(join(root, 'shared'), join(root, 'mounted'));
    await mkdir(join(root, 'unmounted'));
    await startHost('a', { artifacts: { folder: join(root, 'shared') } });
    await untilPolled();
    await startHost('b', { artifacts: { folder: join(root, 'mounted') }, identity: 'second' });
    await expect(startHost('c', { artifacts: { folder: join(root, 'unmounted') } })).rejects.toMatchObject({ code: 'STORE_DIFFERS' });
    await expect(startHost('d')).rejects.toMatchObject({ code: 'STORE_DIFFERS' });
  });

  it('PerdurePlugin refuses such a worker too, and is seen by others', async () => {
    await startPluginHost('a');
    await untilPolled();
    await expect(startPluginHost('b')).rejects.toMatchObject({ code: 'STORE_DIFFERS' });
    await expect(startHost('b')).rejects.toMatchObject({ code: 'STORE_DIFFERS' });
    await startPluginHost('a', 'mine');
    await untilPolled(2);
    expect((await pollers()).map(({ identity }) => identity)).toContainEqual(expect.stringMatching(/^mine~store-[0-9a-f]{16}$/u));
  });

  it('a worker that starts after one with another store is gone reports the open runs whose payloads it cannot read', async () => {
    const run = randomUUID();
    const { payloadCodecs } = createDataConverter({ artifactsDir: join(root, 'a', 'artifacts') });
    const client = new Client({ connection, dataConverter: { payloadCodecs } });
    const context = { variables: { text: randomBytes(3_000_000).toString('base64') } };
    await client.workflow.start('agentRun', { taskQueue, workflowId: run, args: [{ task: 'do it', context }] });
    await client.workflow.start('agentRun', { taskQueue, workflowId: randomUUID(), args: [{ task: 'do it' }] });
    const listed = { namespace: 'default', query: `TaskQueue = "${taskQueue}"` };
    await until(async () => Number((await connection.workflowService.countWorkflowExecutions(listed)).count) === 2, 'both runs');
    const [ofA, ofB]: [string[], string[]] = [[], []];
    await startHost('b', { say: (line) => ofB.push(line) });
    expect(ofB).toEqual([
      expect.stringMatching(new RegExp(`^run ${run} needs a large payload that is not in folder ".*/b/artifacts": `, 'u')),
    ]);
    const store = payloadStoreOf(config(), join(root, 'a'));
    await checkMissingPayloads({ connection, namespace: 'default', taskQueue, say: (line) => ofA.push(line) }, store);
    expect(ofA).toEqual([]);
  });

  it('of two that start at the same time, exactly one remains', async () => {
    // neither polls before both have looked for others
    const both = await Promise.all(['a', 'b'].map((name) => createHost(name, { identity: name })));
    const workers = both.map(letPoll);
    await untilPolled(2);
    const checks = workers.map(({ options: { identity } }) =>
      checkQueueStore({ connection, namespace: 'default', taskQueue, identity, place: 'folder' }),
    );
    const settled = await Promise.allSettled(checks);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('a worker whose process is proved dead does not count, and neither does one of another kind', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const found = processIdentity(child.pid);
    const parts = ['perdure', found?.host, found?.boot, found?.pidNamespace, found?.pid, found?.start, '00000000'];
    poll(identityWithStore(parts.join('/'), '0'.repeat(16)));
    poll('a worker in Python');
    poll(newWorkerIdentity());
    await untilPolled(3);
    await expect(startHost('a')).rejects.toMatchObject({
      code: 'STORE_DIFFERS',
      message: expect.stringContaining(`worker process ${child.pid} on ${found?.host} polls queue`),
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await startHost('a');
  });

  it.each<[what: string, artifacts: (path: string) => ArtifactsDefinition, exitCode: number, message: string]>([
    [
      'a folder that is not mounted',
      (path) => ({ folder: join(path, 'missing') }),
      2,
      'artifacts.folder "ROOT/missing": it does not exist. Mount it, or create it',
    ],
    ['a file', (path) => ({ folder: join(path, 'file') }), 5, 'artifacts.folder "ROOT/file": ENOTDIR'],
    ['a damaged id', (path) => ({ folder: join(path, 'damaged') }), 5, 'artifacts.folder "ROOT/damaged": its store-id is damaged'],
  ])('a store that cannot be used is refused before the worker polls: %s', async (_what, artifacts, exitCode, message) => {
    await writeFile(join(root, 'file'), '');
    await mkdir(join(root, 'damaged'));
    await writeFile(join(root, 'damaged', 'store-id'), 'x');
    await expect(startHost('a', { artifacts: artifacts(root) })).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      exitCode,
      message: expect.stringContaining(message.replace('ROOT', root)),
    });
    expect(await pollers()).toEqual([]);
  });

  it('many workers that open a new folder at once read one id', async () => {
    await mkdir(join(root, 'shared'));
    const shared = { folder: join(root, 'shared') };
    const ids = await Promise.all(Array.from({ length: 20 }, () => payloadStoreOf(config(shared), join(root, 'a')).id()));
    expect(new Set(ids).size).toBe(1);
  });

  /** A worker of one host. Each has a connection of its own, as processes have. */
  async function startHost(name: string, options: HostOptions = {}): Promise<Worker> {
    return letPoll(await createHost(name, options));
  }

  async function createHost(name: string, options: HostOptions): Promise<CreatedHost> {
    return await onConnection(async (own) => await createWorker({ ...host(name, options), connection: own }));
  }

  function host(name: string, { artifacts, ...options }: HostOptions): Omit<CreateWorkerOptions, 'connection'> {
    const overrides = { workflowBundle: { codePath: inject('workflowBundlePath') } };
    return { taskQueue, config: config(artifacts), stateDir: join(root, name), overrides, ...options };
  }

  async function startPluginHost(name: string, identity?: string): Promise<Worker> {
    const created = await onConnection(
      async (own) =>
        await Worker.create({
          connection: own,
          taskQueue,
          workflowBundle: { codePath: inject('workflowBundlePath') },
          plugins: [new PerdurePlugin({ config: config(), stateDir: join(root, name), searchAttributes: [] })],
          ...(identity === undefined ? {} : { identity }),
        }),
    );
    return letPoll(created);
  }

  /** Lets a worker poll up to the end of the test. */
  function letPoll({ worker, own }: CreatedHost): Worker {
    const running = worker.run();
    stops.push(async () => {
      worker.shutdown();
      await running;
      await own.close();
    });
    return worker;
  }

  /** Polls once, as a worker with this identity does, up to the end of the test. */
  function poll(identity: string): void {
    const request = { namespace: 'default', taskQueue: { name: taskQueue }, identity };
    const polled = connection.withDeadline(Date.now() + 60_000, () => connection.workflowService.pollWorkflowTaskQueue(request));
    void polled.catch(() => undefined);
  }

  async function pollers() {
    const asked = { namespace: 'default', taskQueue: { name: taskQueue } };
    return (await connection.workflowService.describeTaskQueue(asked)).pollers;
  }

  async function untilPolled(times = 1): Promise<void> {
    await until(async () => (await pollers()).length >= times, `${times} pollers`);
  }
});

async function onConnection(create: (own: NativeConnection) => Promise<Worker>): Promise<CreatedHost> {
  const own = await NativeConnection.connect({ address: inject('temporalAddress') });
  try {
    return { worker: await create(own), own };
  } catch (error) {
    await own.close();
    throw error;
  }
}

function config(artifacts?: ArtifactsDefinition): LoadedConfig {
  return { config: artifacts ? { artifacts } : {}, file: undefined, env: {}, keys: captureKeys({}), hash: 'test' };
}
