import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { WatchItem, WatchOptions } from '../../../src/client/watch/watch-run.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { RedisStreamSource, type StreamEntry, type StreamEvent } from '../../../src/streams/index.js';
import type { ScriptStepInput } from '../../../src/testing/index.js';
import type { Command } from '../../e2e/support/command.js';
import { startOwnedWorker } from '../../e2e/support/owned-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../../e2e/support/perdure-folder.js';
import { modelEnv, useModels } from '../../e2e/support/use-models.js';
import { shown } from '../../streams/support/stream-events.js';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/use-workers.js';
import { type RedisServer, startRedisServer } from './support/redis-server.js';

const PASSWORD = 'pass/wörd 1';
const CONFIG = `export default { streams: { url: 'env:REDIS_URL' } };\n`;
const HEARTBEAT_TIMEOUT_MS = 5_000;
const WORDS = Array.from({ length: 100 }, (_, index) => `word${index} `)
  .join('')
  .trim();
const SLOW: ScriptStepInput = { text: WORDS, chunkDelayMs: 60 };

let server: RedisServer;
const clients: AgentClient[] = [];
beforeEach(async () => {
  server = await startRedisServer({ password: PASSWORD });
});
// registered before the folders, whose processes must end first
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.stop();
});
const folder = usePerdureFolders();
const model = useModels();

describe('runs whose tokens are in Redis', () => {
  test('a worker killed in the middle of an answer: a watcher on another host sees the reset and the whole text, and can resume anywhere', async () => {
    const { here, client, on } = await setUp(SLOW);
    const workers = await Promise.all(['a', 'b'].map((state) => startOwnedWorker(here, { ...on, state })));
    const { run } = await client.start({ id: on.taskQueue, task: 'go', model: 'openai/test' });
    const watching = watch(client, run.runId);
    await until(() => shown(watching.tokens).includes('word9 '), 'tokens', WAIT_MS_MAX);
    // a second watcher leaves before the crash, and comes back after it
    const before = watch(client, run.runId);
    await until(() => before.tokens.length > 3);
    await before.stop();
    await (await workerOf(run.runId, workers)).kill('SIGKILL');
    const result = await watching.result();
    expect(result).toMatchObject({ reason: 'completed', output: WORDS });
    const [nothing, partial, whole, ...more] = shown(watching.tokens).split('<reset>');
    expect({ nothing, more }).toEqual({ nothing: '', more: [] });
    expect(whole).toBe(`${WORDS}<end>`);
    expect(partial).toMatch(/^word0 word1 /u);
    expect(WORDS.startsWith(partial ?? '')).toBe(true);
    expect(new Set(watching.tokens.map(({ epoch }) => epoch)).size).toBe(2);
    const streamAfter = before.tokens.at(-1)?.id ?? '';
    const after = watch(client, run.runId, { streamAfter });
    await after.result();
    expect(shown([...before.tokens, ...after.tokens])).toBe(shown(watching.tokens));
  });

  test('a worker that was suspended in the middle of an answer publishes after its successor, and no watcher sees it', async () => {
    const { here, client, on } = await setUp(SLOW);
    const workers = await Promise.all(['a', 'b'].map((state) => startOwnedWorker(here, { ...on, state })));
    const { run } = await client.start({ task: 'go', model: 'openai/test' });
    const watching = watch(client, run.runId);
    await until(() => shown(watching.tokens).includes('word9 '), 'tokens', WAIT_MS_MAX);
    const suspended = await workerOf(run.runId, workers);
    suspended.child.kill('SIGSTOP');
    expect(await watching.result()).toMatchObject({ reason: 'completed', output: WORDS });
    suspended.child.kill('SIGCONT');
    const [epoch] = watching.tokens.map((event) => event.epoch);
    await until(async () => (await storedEvents(run.runId)).at(-1)?.epoch === epoch, 'the late events', WAIT_MS_MAX);
    const late = watch(client, run.runId);
    await late.result();
    expect(late.tokens).toEqual(watching.tokens);
    expect(shown(late.tokens).split('<reset>').at(-1)).toBe(`${WORDS}<end>`);
  });

  test('Redis killed and started again in the middle of an answer: the run goes on, and the watcher has the whole text once', async () => {
    const { here, client, on } = await setUp(SLOW);
    const worker = await startOwnedWorker(here, on);
    const { run } = await client.start({ task: 'go', model: 'openai/test' });
    const watching = watch(client, run.runId);
    await until(() => shown(watching.tokens).includes('word9 '), 'tokens', WAIT_MS_MAX);
    await server.signal('SIGKILL');
    await server.restart();
    expect(await watching.result()).toMatchObject({ reason: 'completed', output: WORDS });
    expect(shown(watching.tokens)).toBe(`<reset>${WORDS}<end>`);
    expect(worker.isRunning).toBe(true);
  });

  test('Redis that stops to answer in the middle of an answer: the run and its watcher end all the same', async () => {
    const { here, client, on } = await setUp(SLOW);
    const worker = await startOwnedWorker(here, on);
    const { run } = await client.start({ task: 'go', model: 'openai/test' });
    const watching = watch(client, run.runId);
    await until(() => shown(watching.tokens).includes('word9 '), 'tokens', WAIT_MS_MAX);
    await server.signal('SIGSTOP');
    expect(await watching.result()).toMatchObject({ reason: 'completed', output: WORDS });
    expect(worker.isRunning).toBe(true);
    // the rest is written once it answers again
    await server.signal('SIGCONT');
    const late = new RedisStreamSource({ url: server.url });
    await until(async () => {
      const tokens: StreamEntry[] = [];
      for await (const event of late.read(run.runId, AbortSignal.abort())) tokens.push(event);
      return shown(tokens) === `<reset>${WORDS}<end>`;
    }, 'the rest of the text');
  });

  test('`perdure worker` without its Redis works, prints one line, and never the password', async () => {
    const { here, client, on } = await setUp({ text: 'done' }, `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${await freePort()}`);
    const worker = here.start(['worker', '--address', on.address, '--task-queue', on.taskQueue], { PERDURE_DIR: `${here.root}/state` });
    const results = [];
    for (let index = 0; index < 3; index += 1) {
      const { run } = await client.start({ task: 'go', model: 'openai/test' });
      results.push(await watch(client, run.runId).result());
    }
    expect(results.map(({ output }) => output)).toEqual(['done', 'done', 'done']);
    const { code, stdout, stderr } = await worker.kill('SIGTERM');
    expect(code).toBe(0);
    const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.includes('Redis'));
    expect(lines).toEqual([expect.stringContaining('cannot write token streams to Redis, runs continue without them')]);
    for (const secret of ['pass', PASSWORD, encodeURIComponent(PASSWORD)]) expect(lines.join()).not.toContain(secret);
  });

  test('`perdure worker` with its Redis publishes, and reads its address from the environment alone', async () => {
    const { here, client, on } = await setUp({ text: 'done here' });
    const worker = here.start(['worker', '--address', on.address, '--task-queue', on.taskQueue], { PERDURE_DIR: `${here.root}/state` });
    const { run } = await client.start({ task: 'go', model: 'openai/test' });
    const watching = watch(client, run.runId);
    await watching.result();
    expect(shown(watching.tokens)).toBe('<reset>done here<end>');
    const { stdout, stderr } = await worker.kill('SIGTERM');
    expect(stdout + stderr).not.toContain('Redis');
  });
});

/** A folder with a config that names Redis, its model, and a client on another host: it shares nothing with the folder but the servers. */
async function setUp(step: ScriptStepInput, url = server.url) {
  const wire = await model({ handler: () => step });
  const here = await folder({ ...modelEnv(wire), REDIS_URL: url });
  await writeFile(join(here.dir, 'perdure.config.mjs'), CONFIG);
  const on = { address: inject('temporalAddress'), taskQueue: `redis-${randomUUID()}`, heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  const client = await AgentClient.connect({ address: on.address, taskQueue: on.taskQueue, streams: new RedisStreamSource({ url }) });
  clients.push(client);
  return { here, client, on };
}

/** Watches a run in the background. */
function watch(client: AgentClient, runId: string, options: WatchOptions = {}) {
  const stop = new AbortController();
  const items: WatchItem[] = [];
  const tokens: StreamEntry[] = [];
  const done = (async () => {
    for await (const item of client.get(runId).watch({ ...options, signal: stop.signal })) {
      items.push(item);
      if (item.type === 'stream') tokens.push(item.event);
    }
  })();
  return {
    tokens,
    async stop(): Promise<void> {
      stop.abort();
      await done;
    },
    async result(): Promise<RunResult> {
      await done;
      const last = items.at(-1);
      if (last?.type !== 'result') throw new Error('the watch ended without a result');
      return last.result;
    },
  };
}

/** The events of a run as Redis has them, in its order. */
async function storedEvents(runId: string): Promise<StreamEvent[]> {
  const entries = (await server.command('XRANGE', `perdure:stream:${runId}`, '-', '+')) as [string, [string, string]][];
  return entries.map(([, [, event]]) => JSON.parse(event) as StreamEvent);
}

/** The worker process that has the model call. */
async function workerOf(runId: string, workers: readonly Command[]): Promise<Command> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const { raw } = await new Client({ connection }).workflow.getHandle(runId).describe();
    const identity = raw.pendingActivities?.[0]?.lastWorkerIdentity ?? 'none';
    const holder = workers.find(({ pid }) => identity.startsWith(`${pid}@`));
    if (!holder) throw new Error(`no worker has the call: ${identity}`);
    return holder;
  } finally {
    await connection.close();
  }
}
