import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { temporal } from '@temporalio/proto';
import { defineQuery } from '@temporalio/workflow';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { createAsk } from '../../../src/activities/call-tool/ask-run.js';
import { createExchange } from '../../../src/activities/call-tool/run-exchange.js';
import { CallSignal } from '../../../src/activities/runtime/call-signal.js';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';
import { CLIENT_LIMITS, WORKER_LIMITS } from '../../../src/contracts/constants/limits.js';

const ANSWER = defineQuery<string>('answer');

test('a query that waits for a lost worker is given up before another worker can answer it with events that no task has handled', async () => {
  const { connection, client, taskQueue, handle } = await startLost();

  const access = new TemporalAccess({ client, taskQueue, address: '', tls: false, inputBytesMax: 1_000 });
  const asked = access.query(handle, ANSWER).catch((error: unknown) => error);
  // nothing shows that the query is at the lost worker's queue; a query that comes after the signal would wait for the task anyway
  await delay(500);
  await handle.signal('anything');
  const { query, startedEventId } = await poll(connection, { name: taskQueue });
  expect({ query, isTask: Number(startedEventId) > 0 }).toEqual({ query: null, isTask: true });
  expect(await asked).toMatchObject({ code: 'NO_WORKER' });
}, 60_000);

test('a question of a running call is looked up with such queries', async () => {
  const { connection, client, taskQueue, handle } = await start();
  await completeTask(connection, taskQueue, await poll(connection, { name: taskQueue }));
  const question = poll(connection, stickyQueue(taskQueue));
  await vi.waitFor(() => isPolled(connection, stickyQueue(taskQueue)), { timeout: 30_000 });

  const workflowExecution = { workflowId: taskQueue, runId: handle.firstExecutionRunId };
  const call = new CallSignal([], 60_000);
  onTestFinished(() => call.release());
  const context = { client, info: { workflowExecution } } as unknown as Context;
  const given = new AbortController();
  const ask = createAsk({ callId: 'c' }, createExchange(context, call));
  const asked = ask({ id: 'q', question: 'Really?', askedBy: 'MCP server desk' }, { signal: given.signal, isLost: () => true }).catch(
    (error: unknown) => error,
  );
  // the worker takes the question, and is lost
  await loseWorker(connection, taskQueue, await question);
  await delay(500);
  await handle.signal('anything');
  const { query, startedEventId } = await poll(connection, { name: taskQueue });
  expect({ query, isTask: Number(startedEventId) > 0 }).toEqual({ query: null, isTask: true });
  given.abort();
  await asked;
}, 60_000);

test('one attempt of a query is shorter than the time that a task or query waits for a lost worker', () => {
  expect(CLIENT_LIMITS.queryTimeoutMs).toBeLessThanOrEqual(WORKER_LIMITS.stickyQueueScheduleToStartMs - 1_000);
});

type TaskQueue = temporal.api.taskqueue.v1.ITaskQueue;
type Task = Pick<temporal.api.workflowservice.v1.PollWorkflowTaskQueueResponse, 'taskToken'>;

function stickyQueue(normalName: string): TaskQueue {
  return { name: `${normalName}-lost`, kind: temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_STICKY, normalName };
}

/** A run whose worker is lost after its first task. */
async function startLost() {
  const started = await start();
  const { connection, taskQueue } = started;
  await loseWorker(connection, taskQueue, await poll(connection, { name: taskQueue }));
  return started;
}

async function start() {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const taskQueue = `test-${randomUUID()}`;
  const handle = await client.workflow.start('any', { taskQueue, workflowId: taskQueue });
  return { connection, client, taskQueue, handle };
}

/** Does a task of a run as a worker that asks for the next ones at its sticky queue once, and is never seen again. */
async function loseWorker(connection: Connection, normalName: string, task: Task): Promise<void> {
  await completeTask(connection, normalName, task);
  const leave = new AbortController();
  const asked = connection
    .withAbortSignal(leave.signal, () => poll(connection, stickyQueue(normalName), 'lost'))
    .catch(() => 'no task yet');
  // the server keeps tasks only for a worker that it saw at its queue
  await vi.waitFor(() => isPolled(connection, stickyQueue(normalName), 'lost'), { timeout: 30_000 });
  leave.abort();
  await asked;
}

async function completeTask(connection: Connection, normalName: string, { taskToken }: Task): Promise<void> {
  await connection.workflowService.respondWorkflowTaskCompleted({
    taskToken,
    namespace: 'default',
    identity: 'lost',
    stickyAttributes: {
      workerTaskQueue: stickyQueue(normalName),
      scheduleToStartTimeout: msToTs(WORKER_LIMITS.stickyQueueScheduleToStartMs),
    },
  });
}

async function isPolled(connection: Connection, taskQueue: TaskQueue, worker = 'test'): Promise<void> {
  const { pollers } = await connection.workflowService.describeTaskQueue({ namespace: 'default', taskQueue });
  if (!pollers.some(({ identity }) => identity === worker)) throw new Error('no worker waits at the queue');
}

async function poll(connection: Connection, taskQueue: TaskQueue, identity = 'test') {
  return await connection.withDeadline(Date.now() + 40_000, () =>
    connection.workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue, identity }),
  );
}
