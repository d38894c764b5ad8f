import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { processState } from '../../../src/process/process-identity.js';
import type { WireServerOptions } from '../../../src/testing/index.js';
import { type TestRun, testRun, until } from '../../support/use-workers.js';
import type { Command } from '../support/command.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

type Script = NonNullable<WireServerOptions['script']>;

const ONCE = { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'told' }] };
const STALLED: Script = { steps: [{ text: 'half an answer, then silence', fault: { stall: true, afterEvent: 'text' } }] };

/** Value of Temporal's PendingActivityState. */
const STARTED = 2;

describe('perdure worker on a shared server', () => {
  const folder = usePerdureFolders();
  const model = useModels();
  let connection: Connection;
  let client: Client;
  beforeAll(async () => {
    connection = await Connection.connect({ address: inject('temporalAddress') });
    client = new Client({ connection });
  });
  afterAll(() => connection.close());

  it('whose process is killed in a model call: the supervisor hands the call back and starts the next one', async () => {
    const wire = await model({ script: STALLED });
    const { here, queue, id } = await place(modelEnv(wire));
    const worker = here.start(['worker', ...queue]);
    const pid = await workerPid(worker);
    expect(pid).not.toBe(worker.pid);
    const run = await start(id);
    await until(() => wire.requests.length === 1, 'the first request', WAIT_MS_MAX);
    process.kill(pid, 'SIGKILL');

    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 1 });
    expect(wire.requests).toHaveLength(2);
    expect(messagesOf(wire.requests[1])).toEqual(messagesOf(wire.requests[0]));
    const died = `worker process ${pid} on ${hostname()} died (killed by SIGKILL) before it reported a result; the run handles this call as failed`;
    expect(await failures(id)).toEqual([{ type: 'Worker.Died', message: died }]);
    expect(await timeouts(id)).toEqual([]);
    expect(await run.events()).toContainEqual(
      expect.objectContaining({ type: 'worker.lost', activity: 'callModel', losses: 1, why: 'died' }),
    );
    expect(worker.stderr).toContain(`worker process ${pid} died (killed by SIGKILL); the next one starts in 0.2 s`);
    await worker.prints('handed 1 running call back to their runs (callModel)');
    expect(await workerPid(worker, 2)).not.toBe(pid);
    expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('whose process is killed in a `once` tool: the call is not started again, and the model is told that its outcome is unknown', async () => {
    const wire = await model({ script: ONCE });
    const { here, queue, id } = await place(modelEnv(wire));
    await here.hold();
    const worker = here.start(['worker', ...queue]);
    const run = await start(id);
    await here.started('send_once');
    process.kill(await workerPid(worker), 'SIGKILL');

    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    expect((await here.effects()).map(({ what }) => what)).toEqual(['start']);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('[outcome unknown]');
    expect(await failures(id)).toEqual([expect.objectContaining({ type: 'Worker.Died' })]);
    await worker.kill('SIGTERM');
  });

  it('of which two serve a queue: what the killed one held is handed back to the other one, whose own call is not touched', async () => {
    const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'put_idempotent', args: { name: 'a' } }] }, { text: 'told' }] } });
    const { here, queue, id } = await place(modelEnv(wire));
    await here.hold();
    const workers = [here.start(['worker', ...queue]), here.start(['worker', ...queue])];
    const pids = await Promise.all(workers.map((one) => workerPid(one)));
    const runs = await Promise.all(['1', '2', '3', '4'].map((n) => start(id, `${id}-${n}`)));
    await here.started('put_idempotent', runs.length);
    const held = (await here.startsOf('put_idempotent')).map(({ pid }) => pid);
    const victim = held[0] ?? 0;
    process.kill(victim, 'SIGKILL');
    const lost = held.filter((pid) => pid === victim).length;
    await here.started('put_idempotent', runs.length + lost);
    await here.release();

    for (const run of runs) expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    // the calls of the living worker were started once
    expect(await here.startsOf('put_idempotent')).toHaveLength(runs.length + lost);
    await workers[pids.indexOf(victim)]?.prints(`handed ${lost} running`);
    for (const worker of workers) expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('with --spare: the spare process, which is loaded and does not poll, takes over', async () => {
    const wire = await model({ script: STALLED });
    const { here, queue, id } = await place(modelEnv(wire));
    const worker = here.start(['worker', '--spare', ...queue]);
    const pid = await workerPid(worker);
    const run = await start(id);
    await until(() => wire.requests.length === 1, 'the first request', WAIT_MS_MAX);
    expect(await readdir(join(here.stateDir, 'workers'))).toHaveLength(1);
    process.kill(pid, 'SIGKILL');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(worker.stderr).toContain(`worker process ${pid} died (killed by SIGKILL); the spare process takes over`);
    expect(wire.requests).toHaveLength(2);
    const end = await worker.kill('SIGTERM');
    expect(end.code).toBe(0);
    expect(end.stderr).not.toContain('spare worker process');
  });

  it('whose supervisor is killed finishes its running call and stops', async () => {
    const wire = await model({ script: ONCE });
    const { here, queue, id } = await place(modelEnv(wire));
    await here.hold();
    const worker = here.start(['worker', ...queue]);
    const pid = await workerPid(worker);
    const run = await start(id);
    await here.started('send_once');
    worker.child.kill('SIGKILL');
    const notice = 'the supervisor of this worker died; the worker stops after its running calls';
    await until(() => worker.stderr.includes(notice), notice);
    expect(processState(pid).kind).toBe('running');
    await here.release();
    const next = here.start(['worker', ...queue]);

    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    await until(() => processState(pid).kind === 'gone', 'the end of the worker', WAIT_MS_MAX);
    expect(await here.effects()).toMatchObject([
      { what: 'start', pid },
      { what: 'end', pid },
    ]);
    expect(await failures(id)).toEqual([]);
    await next.kill('SIGTERM');
  });

  it('with --no-supervisor is one process; the next one of this host finds its record and hands its call back', async () => {
    const wire = await model({ script: ONCE });
    const { here, queue, id } = await place(modelEnv(wire));
    await here.hold();
    const first = here.start(['worker', '--no-supervisor', ...queue]);
    expect(await workerPid(first)).toBe(first.pid);
    const run = await start(id);
    await here.started('send_once');
    expect((await first.kill('SIGKILL')).signal).toBe('SIGKILL');
    // nothing reported its death
    const { raw } = await client.workflow.getHandle(id).describe();
    expect(raw.pendingActivities).toMatchObject([{ state: STARTED }]);

    const second = here.start(['worker', '--no-supervisor', ...queue]);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    const died = `worker process ${first.pid} on ${hostname()} died before it reported a result; the run handles this call as failed`;
    expect(await failures(id)).toEqual([{ type: 'Worker.Died', message: died }]);
    expect(second.stderr).toContain(`${id}: callTool was running on a dead worker; the run handles it as failed`);
    await until(async () => (await readdir(join(here.stateDir, 'workers'))).length === 1, 'the dead record to be forgotten', WAIT_MS_MAX);
    expect(await second.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(await readdir(join(here.stateDir, 'workers'))).toEqual([]);
  });

  it('with an invalid config exits with its status, and is not started again', async () => {
    const { here, queue } = await place({ PERDURE_DIR: '/dev/null/nowhere' });
    const { code, stderr } = await here.run(['worker', ...queue]);
    expect(code).not.toBe(0);
    expect(stderr).not.toContain('the next one starts');
  });

  it.each([
    { worker: ['worker'], agent: {}, model: 60, tool: 60 },
    { worker: ['worker', '--no-supervisor'], agent: {}, model: 30, tool: 30 },
    { worker: ['worker'], agent: { agent: 'patient' }, model: 270, tool: 279 },
  ])('$worker $agent: a model call has a heartbeat timeout of $model s, a tool call one of $tool s', async (expected) => {
    const wire = await model({ script: ONCE });
    const { here, queue, id } = await place(modelEnv(wire));
    const worker = here.start([...expected.worker, ...queue]);
    const run = await start(id, id, expected.agent);
    await run.result();
    // below the time limit of the call: a lost worker must not look like a slow call
    expect(await heartbeatTimeouts(run)).toEqual([
      `callModel ${expected.model}`,
      `callTool ${expected.tool}`,
      `callModel ${expected.model}`,
    ]);
    await worker.kill('SIGTERM');
  });

  /** Starts a run as a plain client does, which waits for it whatever happens to its workers. */
  async function start(taskQueue: string, workflowId = taskQueue, more: Partial<RunInput> = {}): Promise<TestRun> {
    const args = [{ task: 'go', model: 'openai/test', ...more }];
    return testRun(await client.workflow.start('agentRun', { taskQueue, workflowId, args }));
  }

  async function place(env: NodeJS.ProcessEnv) {
    const id = `e2e-super-${randomUUID()}`;
    const here = await folder({ TEMPORAL_ADDRESS: inject('temporalAddress'), ...env });
    return { here, id, queue: ['--task-queue', id] };
  }

  async function failures(workflowId: string): Promise<{ type: string; message: string }[]> {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).flatMap(({ activityTaskFailedEventAttributes: failed }) =>
      failed ? [{ type: failed.failure?.applicationFailureInfo?.type ?? '', message: failed.failure?.message ?? '' }] : [],
    );
  }

  async function timeouts(workflowId: string): Promise<unknown[]> {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const { EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT } = temporal.api.enums.v1.EventType;
    return (events ?? []).filter(({ eventType }) => eventType === EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT);
  }
});

describe('perdure worker on the embedded server', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('whose process is killed: its supervisor starts the next one, which recovers the call by the record', async () => {
    const wire = await model({ script: ONCE });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const worker = here.start(['worker']);
    const pid = await workerPid(worker);
    const { workflow } = await here.temporal();
    const args = [{ task: 'go', model: 'openai/test' }];
    const run = testRun(await workflow.start('agentRun', { taskQueue: 'perdure', workflowId: 'r1', args }));
    await here.started('send_once');
    process.kill(pid, 'SIGKILL');
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    expect((await here.effects()).map(({ what }) => what)).toEqual(['start']);
    expect(await heartbeatTimeouts(run)).toEqual(['callModel 270', 'callTool 279', 'recallResult 10', 'callModel 270']);
    expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});

/** Of each activity but the one that prepares the run, in seconds. */
async function heartbeatTimeouts({ handle }: TestRun): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const name = scheduled?.activityType?.name ?? 'prepareRun';
    const { seconds = 0, nanos = 0 } = scheduled?.heartbeatTimeout ?? {};
    return name === 'prepareRun' ? [] : [`${name} ${Number(seconds) + Number(nanos) / 1e9}`];
  });
}

/** The pid of the worker process, as the nth line of its command says. */
async function workerPid(command: Command, nth = 1): Promise<number> {
  const pids = (): string[] =>
    [...command.stderr.matchAll(/^worker on queue .*, in process (?<pid>\d+);/gmu)].map((match) => match.groups?.['pid'] ?? '');
  await until(() => pids().length >= nth, `worker ${nth} of ${command.pid} at work`, WAIT_MS_MAX);
  return Number(pids()[nth - 1]);
}
