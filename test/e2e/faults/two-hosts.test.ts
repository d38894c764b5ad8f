import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { HOSTING_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { until } from '../../support/use-workers.js';
import { OWN_PID_NAMESPACE } from '../../worker/support/script.js';
import type { Command } from '../support/command.js';
import { type PerdureFolder, usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

// two hosts are two worker processes with a state folder each: they share the Temporal server, and what the config names

const folder = usePerdureFolders();
const model = useModels();
const TURNS = 8;
const SHARED = `artifacts: { folder: fileURLToPath(new URL('../shared', import.meta.url)) },`;

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
});
afterAll(() => connection.close());

test('C1: a run whose carried state is too large for the server moves to another host when its worker is killed', async () => {
  const { here, taskQueue, host } = await place(SHARED);
  const shared = join(here.root, 'shared');
  await mkdir(shared);
  await here.hold(String(TURNS));
  const first = host('first', '--no-supervisor');
  await first.prints('worker on queue');
  const handle = await startLargeRun(taskQueue, createDataConverter({ artifacts: { folder: shared } }));
  await here.started('look', TURNS);
  expect(await startEncodings(handle)).toEqual(['json/plain', 'binary/perdure-blob']);
  await first.kill('SIGKILL');

  const second = host('second', '--no-supervisor');
  await second.prints('worker on queue');
  await here.started('look', TURNS + 1);
  await here.release();
  expect(await handle.result()).toMatchObject({ reason: 'completed', output: 'moved', turns: TURNS + 1 });
  expect((await here.startsOf('look')).at(-1)).toMatchObject({ name: String(TURNS), pid: second.pid });
  for (const name of ['first', 'second']) expect(await readdir(join(here.root, name, 'artifacts')).catch(() => [])).toEqual([]);
  await second.kill('SIGTERM');
});

test('C1: without a shared place, a worker of a second host says so in one line and does not poll; the first one goes on', async () => {
  const { here, taskQueue, host } = await place('');
  const first = host('first');
  await first.prints('worker on queue');
  expect(first.stderr).toContain(`all workers of queue ${taskQueue} must share this folder`);
  const line = new RegExp(
    `^STORE_DIFFERS: worker process \\d+ on ${hostname()} polls queue ${taskQueue} and stores large payloads elsewhere, ` +
      'not in folder ".*/second/artifacts"\\. Set artifacts in both configs to one bucket or shared folder',
    'mu',
  );
  for (const options of [[], ['--no-supervisor']]) {
    const { stderr } = await host('second', ...options).exits(2);
    expect(stderr).toMatch(line);
    expect(stderr.match(/stores large payloads elsewhere/gu)).toHaveLength(1);
    expect(stderr).not.toContain('worker on queue');
  }
  // nor does a command send what the workers could not read
  const dataConverter = createDataConverter({ artifactsDir: join(here.root, 'first', 'artifacts') });
  const client = await AgentClient.connect({ connection, taskQueue, dataConverter });
  const { run } = await client.start({ id: taskQueue, task: 'go', model: 'openai/test', messages: largeMessages(), maxTurns: 20 });
  expect(await run.result()).toMatchObject({ reason: 'completed' });
  const continued = here.start(['continue', taskQueue, 'more', '--no-worker', '--task-queue', taskQueue], {
    PERDURE_DIR: join(here.root, 'third'),
  });
  expect((await continued.exits(2)).stderr).toMatch(/^STORE_DIFFERS: worker process \d+ .* not in folder ".*\/third\/artifacts"/mu);
  expect(first.isRunning).toBe(true);
  expect(await first.kill('SIGTERM')).toMatchObject({ code: 0 });
});

test(
  'C1: a host with another state folder that starts after the first one died is refused while a run needs the state of that one',
  async () => {
    const { here, taskQueue } = await place('');
    // a container each: neither sees the processes of the other one
    const container = (name: string, queue = taskQueue): Command =>
      here.start(['worker', '--task-queue', queue, '--no-supervisor'], { PERDURE_DIR: join(here.root, name) }, OWN_PID_NAMESPACE);
    await here.hold(String(TURNS));
    const first = container('first');
    await first.prints('worker on queue');
    const handle = await startLargeRun(taskQueue, createDataConverter({ artifactsDir: join(here.root, 'first', 'artifacts') }));
    await here.started('look', TURNS);
    await first.kill('SIGKILL');
    await until(async () => !(await hasPollers(taskQueue)), 'the server to forget the first worker', 2 * HOSTING_LIMITS.pollerAgeMs);

    expect((await container('second').exits(2)).stderr).toMatch(
      new RegExp(
        `^STORE_DIFFERS: run ${taskQueue} needs a large payload that is not in folder ".*/second/artifacts": worker process \\d+ on `,
        'mu',
      ),
    );
    const other = container('second', `${taskQueue}-other`);
    await other.prints('worker on queue');
    const again = container('first');
    await again.prints('worker on queue');
    await here.started('look', TURNS + 1);
    await here.release();
    expect(await handle.result()).toMatchObject({ reason: 'completed', output: 'moved', turns: TURNS + 1 });
  },
  4 * WAIT_MS_MAX,
);

test('C1: of two hosts that start at the same time without a shared place, one remains and works', async () => {
  const { here, taskQueue, host } = await place('');
  const both = ['first', 'second'].map((name) => host(name, '--no-supervisor'));
  const ended = await Promise.race(both.map(async (one) => await one.exits(2)));
  expect(ended.stderr).toMatch(/^STORE_DIFFERS: /mu);
  const dataConverter = createDataConverter({ artifactsDir: join(here.root, 'client') });
  const client = await AgentClient.connect({ connection, taskQueue, dataConverter });
  const { run } = await client.start({ task: 'go', model: 'openai/test', maxTurns: 20 });
  expect(await run.result()).toMatchObject({ reason: 'completed', output: 'moved' });
  const left = both.find(({ isRunning }) => isRunning);
  expect(await left?.kill('SIGTERM')).toMatchObject({ code: 0 });
});

test('C1: a shared folder that is not mounted is reported by doctor, and by a worker before it polls', async () => {
  const { here, taskQueue, host } = await place(SHARED);
  const problem = `large payloads cannot be stored in artifacts.folder "${here.root}/shared": it does not exist. Mount it, or create it`;
  const doctor = ['doctor', '--task-queue', taskQueue];
  expect(await here.json(doctor, 1)).toContainEqual({ level: 'fail', name: 'artifacts', detail: `STORE_UNUSABLE: ${problem}` });
  expect((await host('first').exits(2)).stderr).toContain(`STORE_UNUSABLE: ${problem}\n`);
  await mkdir(join(here.root, 'shared'));
  expect(await here.json(doctor)).toContainEqual({ level: 'ok', name: 'artifacts', detail: `artifacts.folder "${here.root}/shared"` });
});

interface TwoHosts {
  readonly here: PerdureFolder;
  readonly taskQueue: string;
  readonly host: (name: string, ...options: readonly string[]) => Command;
}

/** A folder whose config has more fields than the fixture's. */
async function place(fields: string): Promise<TwoHosts> {
  const calls = Array.from({ length: TURNS }, (_, n) => ({ toolCalls: [{ name: 'look', args: { name: String(n + 1) } }] }));
  const wire = await model({ script: { steps: [...calls, { text: 'moved' }] } });
  const here = await folder({ ...modelEnv(wire), TEMPORAL_ADDRESS: inject('temporalAddress') });
  await rename(join(here.dir, 'perdure.config.mjs'), join(here.dir, 'tools.mjs'));
  await writeFile(
    join(here.dir, 'perdure.config.mjs'),
    `import { fileURLToPath } from 'node:url';
     import config from './tools.mjs';
     void fileURLToPath;
     export default { ...config, ${fields} contextWindows: { 'openai/test': 50_000_000 }, limits: { heartbeatTimeoutMs: 10_000 } };`,
  );
  const taskQueue = `hosts-${randomUUID()}`;
  const host = (name: string, ...options: readonly string[]): Command =>
    here.start(['worker', '--task-queue', taskQueue, ...options], { PERDURE_DIR: join(here.root, name) });
  return { here, taskQueue, host };
}

/** A run whose carried state is too large for the server. */
async function startLargeRun(taskQueue: string, dataConverter: DataConverter): Promise<WorkflowHandle<() => Promise<RunResult>>> {
  const { workflow } = new Client({ connection, dataConverter });
  const args = [{ task: 'go', model: 'openai/test', messages: largeMessages(), maxTurns: 20, bounds: { continueAsNewEvents: 20 } }];
  return await workflow.start<() => Promise<RunResult>>('agentRun', { taskQueue, workflowId: taskQueue, args } as never);
}

/** True while a worker counts as alive for those that start. */
async function hasPollers(taskQueue: string): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({ namespace: 'default', taskQueue: { name: taskQueue } });
  const oldest = Date.now() - HOSTING_LIMITS.pollerAgeMs;
  return pollers.some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 >= oldest);
}

/** How the arguments of the run's present execution are encoded on the server. */
async function startEncodings({ client, workflowId }: WorkflowHandle): Promise<string[]> {
  const { events } = await client.getHandle(workflowId).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return payloads.map(({ metadata }) => new TextDecoder().decode(metadata?.['encoding'] ?? new Uint8Array()));
}

/** 3 MB of messages that do not compress. */
function largeMessages(): Message[] {
  return Array.from({ length: 60 }, (_, index) => {
    const text = createHash('shake256', { outputLength: 37_500 }).update(String(index)).digest('base64');
    return { id: `m${index}`, role: 'user', parts: [{ type: 'text', text: `${index} ${text}` }] };
  });
}
