import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type DevServer, openDevServer } from '../../../src/worker/dev-server/dev-server.js';
import { currentHolder } from '../../../src/worker/recovery/embedded-worker.js';
import { recoverDeadWorkers } from '../../../src/worker/recovery/recover-dead-workers.js';
import { listOpenRuns } from '../../../src/worker/recovery/started-activities.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { until } from '../../support/use-workers.js';
import { killLeftScripts, type Script, startScript } from '../support/script.js';
import { makeStateDir, removeStateDir } from '../support/state-dir.js';

/** Number of Temporal's PendingActivityState. */
const CANCEL_REQUESTED = 3;

let bundle = '';
let stateDir = '';
let server: DevServer;
let connection: Connection;
let client: Client;

// once: each process would take two seconds for it
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../scripts/waiting-workflows.ts', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  bundle = join(await mkdtemp(join(tmpdir(), 'perdure-bundle-')), 'bundle.js');
  await writeFile(bundle, code);
});

afterAll(() => rm(dirname(bundle), { recursive: true, force: true }));

beforeEach(async () => {
  stateDir = await makeStateDir();
  server = await openDevServer({ stateDir, say: () => {} });
  connection = await Connection.connect({ address: server.address });
  client = new Client({ connection });
});

afterEach(async () => {
  await killLeftScripts();
  await connection.close();
  await server.close();
  await removeStateDir(stateDir);
});

test('hostEmbeddedWorker: what a worker killed with SIGKILL was doing comes back as Worker.Died within 3 s of the next one', async () => {
  const first = await host('a');
  const handles = await Promise.all(['one', 'two', 'three'].map((name) => begin(name)));
  await Promise.all(['one', 'two', 'three'].map((name) => first.line(`started ${name}`)));
  await first.kill();

  const second = startScript('worker-host', [stateDir, 'b', bundle]);
  await second.line('ready true');
  const readyAt = Date.now();
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results).toEqual(Array.from({ length: 3 }, () => 'failed: Worker.Died'));
  expect(Date.now() - readyAt).toBeLessThan(20_000);
  await second.finish();
});

test('hostEmbeddedWorker: the last heartbeat of a dead worker is in the failure, and its record is forgotten in the end', async () => {
  const first = await host('a');
  const handle = await begin('one');
  await first.line('started one');
  await expect.poll(async () => (await handle.describe()).raw.pendingActivities?.[0]?.heartbeatDetails?.payloads).toHaveLength(1);
  await first.kill();
  const second = await host('b');
  await handle.result();
  const { events } = await handle.fetchHistory();
  const failure = events?.find(({ activityTaskFailedEventAttributes }) => activityTaskFailedEventAttributes)
    ?.activityTaskFailedEventAttributes?.failure;
  const [payload] = failure?.applicationFailureInfo?.details?.payloads ?? [];
  expect(JSON.parse(new TextDecoder().decode(payload?.data ?? undefined))).toEqual({ phase: 'waiting for one' });
  expect(failure?.applicationFailureInfo?.nonRetryable).toBe(true);
  await vi.waitFor(async () => expect(await readdir(join(stateDir, 'workers'))).toHaveLength(1), { timeout: 20_000, interval: 100 });
  await second.finish();
  expect(await readdir(join(stateDir, 'workers'))).toEqual([]);
});

test('recoverDeadWorkers: a call of a living worker is never touched', async () => {
  const dead = await host('a');
  await dead.kill();
  const living = await host('b');
  const handle = await begin('one');
  await living.line('started one');
  // visibility lags
  await until(async () => (await listOpenRuns(client, 'waiting')).length === 1, 'the run in the list of open runs');
  const recovery = await recoverDeadWorkers({ client, taskQueue: 'waiting', stateDir, log: () => {} });
  expect(recovery).toEqual({ runs: 1, failed: 0, remembered: 1 });
  await writeFile(join(stateDir, 'one'), '');
  expect(await handle.result()).toBe(`done by ${living.pid}`);
  await living.finish();
});

test('recoverDeadWorkers: a call of a dead worker that was never recorded is left to its heartbeat', async () => {
  const first = await host('a');
  const handle = await begin('one');
  await first.line('started one');
  await first.kill();
  const [record = ''] = await readdir(join(stateDir, 'workers'));
  await writeFile(join(stateDir, 'workers', record), JSON.stringify({ identity: 'perdure/elsewhere/0/0/1/1/00000000' }));
  expect(await recoverDeadWorkers({ client, taskQueue: 'waiting', stateDir, log: () => {} })).toEqual({
    runs: 0,
    failed: 0,
    remembered: 0,
  });
  const { raw } = await handle.describe();
  expect(raw.pendingActivities).toHaveLength(1);
});

test('hostEmbeddedWorker: a call whose cancel was asked before its worker died comes back at once too', async () => {
  const first = await host('a');
  const handle = await begin('one');
  await first.line('started one');
  await handle.cancel();
  // the call is told and goes on: only its worker's death will end it
  await expect.poll(async () => (await handle.describe()).raw.pendingActivities?.[0]?.state).toBe(CANCEL_REQUESTED);
  await first.kill();
  const second = await host('b');
  const since = Date.now();
  await expect(handle.result()).resolves.toMatch(/^failed/u);
  expect(Date.now() - since).toBeLessThan(20_000);
  await second.finish();
});

test('hostEmbeddedWorker: of three processes one hosts; the others are ready, and one takes over when it is killed', async () => {
  const hosts = Array.from({ length: 3 }, (_, index) => startScript('worker-host', [stateDir, `config-${index}`, bundle]));
  await Promise.all(hosts.map((each) => each.line('ready ')));
  const holder = await holderOf(hosts);
  expect(await currentHolder(stateDir)).toEqual({ pid: holder.pid, configHash: `config-${hosts.indexOf(holder)}` });
  await holder.kill();
  const others = hosts.filter((each) => each !== holder);
  const next = await holderOf(others);
  const handle = await begin('one');
  await next.line('started one');
  await writeFile(join(stateDir, 'one'), '');
  expect(await handle.result()).toBe(`done by ${next.pid}`);
  for (const each of others) await each.finish();
  expect(await currentHolder(stateDir)).toBeUndefined();
  expect(await readdir(join(stateDir, 'worker.lock'))).toEqual([]);
});

test('hostEmbeddedWorker: stopping lets a running call finish and says which', async () => {
  const worker = await host('a');
  const handle = await begin('one');
  await worker.line('started one');
  worker.child.stdin?.end();
  await worker.line('say waiting for running calls: wait of one');
  await writeFile(join(stateDir, 'one'), '');
  await worker.line('stopped');
  await worker.finish();
  const second = await host('b');
  expect(await handle.result()).toBe(`done by ${worker.pid}`);
  await second.finish();
});

test('hostEmbeddedWorker: a worker that stops hands over at once, and its running call ends in its own time', async () => {
  const { former, next, handle } = await handedOver();
  const other = await begin('two');
  await next.line('started two');
  await writeFile(join(stateDir, 'two'), '');
  expect(await other.result()).toBe(`done by ${next.pid}`);
  expect(former.child.exitCode).toBeNull();
  await writeFile(join(stateDir, 'one'), '');
  expect(await handle.result()).toBe(`done by ${former.pid}`);
  // without the reset, the next workflow task would wait for the former worker until it times out
  expect(await failedTasks(client, 'one')).toEqual([]);
  await former.line('stopped');
  await former.finish();
  await next.finish();
});

test('hostEmbeddedWorker: a worker killed while it finishes its call is found dead by the next one, which runs already', async () => {
  const { former, handle } = await handedOver();
  await former.kill();
  const since = Date.now();
  expect(await handle.result()).toBe('failed: Worker.Died');
  expect(Date.now() - since).toBeLessThan(20_000);
});

/** A call runs on a worker that was told to stop, and the next worker polls. */
async function handedOver(): Promise<{ former: Script; next: Script; handle: WorkflowHandle }> {
  const former = await host('a');
  const next = startScript('worker-host', [stateDir, 'b', bundle]);
  await next.line('ready false');
  const handle = await begin('one');
  await former.line('started one');
  former.child.stdin?.end();
  await former.line('say waiting for running calls: wait of one');
  await vi.waitFor(async () => expect((await currentHolder(stateDir))?.pid).toBe(next.pid), { timeout: 20_000, interval: 20 });
  return { former, next, handle };
}

async function host(configHash: string): Promise<Script> {
  const script = startScript('worker-host', [stateDir, configHash, bundle]);
  await script.line('ready true', 40_000);
  return script;
}

async function begin(name: string): Promise<WorkflowHandle> {
  return client.workflow.start('waits', { taskQueue: 'waiting', workflowId: name, args: [name] });
}

async function holderOf(hosts: readonly Script[]): Promise<Script> {
  return vi.waitFor(
    async () => {
      const holder = await currentHolder(stateDir);
      const found = hosts.find(({ pid }) => pid === holder?.pid);
      if (!found) throw new Error('no holder yet');
      return found;
    },
    { timeout: 20_000, interval: 20 },
  );
}
