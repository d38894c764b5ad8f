import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowOptions } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { defineQuery } from '@temporalio/workflow';
import { expect, inject, onTestFinished, test } from 'vitest';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';
import { CLIENT_LIMITS } from '../../../src/contracts/constants/limits.js';

const ANSWER = defineQuery<string>('answer');

test('messages of a closed run are read though its worker replays it for longer than a query may take', async () => {
  expect(await answerAfter(CLIENT_LIMITS.queryTimeoutMs, await startRun([COMPLETE]))).toBe('late');
}, 60_000);

test('so are those of an open run, by queries of which none is longer', async () => {
  expect(await answerAfter(2 * CLIENT_LIMITS.queryTimeoutMs, await startRun([]))).toBe('late');
}, 60_000);

/** Answers no query before this time. Returns the answer for messages. */
async function answerAfter(timeMs: number, { access, handle, ...worker }: Awaited<ReturnType<typeof startRun>>): Promise<string> {
  return await answerAll(access.queryReplayed(handle, ANSWER), worker, { text: 'late', notBefore: Date.now() + timeMs });
}

test('a query that its worker takes and drops is sent again, and answered within its time', async () => {
  const { access, handle, ...worker } = await startRun([COMPLETE]);
  // the worker waits for the query, so that it drops the first one and not the second
  const dropped = worker.poll();
  const asked = access.query(handle, ANSWER);
  await dropped;
  expect(await answerAll(asked, worker, { text: 'again' })).toBe('again');
}, 60_000);

test('a query that comes before the first task of its run waits for it', async () => {
  const { access, start, complete, ...worker } = await place();
  const asked = access.query(await start({ startDelay: 500 }), ANSWER);
  await complete((await worker.poll()).taskToken, []);
  expect(await answerAll(asked, worker, { text: 'begun' })).toBe('begun');
}, 60_000);

/** Answers each query from this time on, as a worker does, until the client has an answer. Returns that. */
async function answerAll(
  asked: Promise<string>,
  { poll, answer }: Pick<Awaited<ReturnType<typeof place>>, 'poll' | 'answer'>,
  { text, notBefore = 0 }: { readonly text: string; readonly notBefore?: number },
): Promise<string> {
  const settled = new AbortController();
  const work = async (): Promise<void> => {
    while (!settled.signal.aborted) {
      const { taskToken } = await poll(settled.signal);
      // the server does not take the answer of a query that its client has ended
      if (Date.now() >= notBefore) await answer(taskToken, text).catch(() => 'ended');
    }
  };
  const worked = work().catch((error: unknown) => {
    if (!settled.signal.aborted) throw error;
  });
  try {
    return await asked;
  } finally {
    settled.abort();
    await worked;
  }
}

const NEVER = new AbortController().signal;

const COMPLETE: temporal.api.command.v1.ICommand = {
  commandType: temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
  completeWorkflowExecutionCommandAttributes: {},
};

/** A run whose first task ended with these commands, and the worker for its queries. */
async function startRun(commands: temporal.api.command.v1.ICommand[]) {
  const { start, complete, ...rest } = await place();
  const handle = await start();
  await complete((await rest.poll()).taskToken, commands);
  return { ...rest, handle };
}

/** A queue, and the client and the worker of it. */
async function place() {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const taskQueue = `test-${randomUUID()}`;
  const worker = { namespace: 'default', identity: 'slow' };
  return {
    access: new TemporalAccess({ client, taskQueue, address: '', tls: false, inputBytesMax: 1_000 }),
    start: (options: Pick<WorkflowOptions, 'startDelay'> = {}) =>
      client.workflow.start('slow', { ...options, taskQueue, workflowId: taskQueue }),
    poll: (signal = NEVER) =>
      connection.withAbortSignal(signal, () =>
        connection.withDeadline(Date.now() + 40_000, () =>
          connection.workflowService.pollWorkflowTaskQueue({ ...worker, taskQueue: { name: taskQueue } }),
        ),
      ),
    complete: (taskToken: Uint8Array, commands: temporal.api.command.v1.ICommand[]) =>
      connection.workflowService.respondWorkflowTaskCompleted({ ...worker, taskToken, commands }),
    answer: (taskToken: Uint8Array, text: string) =>
      connection.workflowService.respondQueryTaskCompleted({
        taskToken,
        namespace: 'default',
        completedType: temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_ANSWERED,
        queryResult: { payloads: [defaultPayloadConverter.toPayload(text)] },
      }),
  };
}
