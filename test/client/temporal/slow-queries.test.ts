import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { defineQuery } from '@temporalio/workflow';
import { expect, inject, onTestFinished, test } from 'vitest';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';
import { QUERY_AGAIN_MS } from '../../../src/contracts/query-twice.js';

const ANSWER = defineQuery<string>('answer');

test('messages of a closed run are read though its worker replays it for longer than a query may take', { timeout: 60_000 }, async () => {
  const { access, handle, poll, answer } = await startClosed();
  const asked = access.queryReplayed(handle, ANSWER);
  // the first query, and the one that was sent again, are still replayed when their time is over
  await poll();
  await poll();
  await answer((await poll()).taskToken, 'late');
  expect(await asked).toBe('late');
});

test('a query that its worker takes and drops is sent again, and answered within its time', { timeout: 60_000 }, async () => {
  const { access, handle, poll, answer } = await startClosed();
  const began = Date.now();
  const asked = access.query(handle, ANSWER);
  await poll();
  await answer((await poll()).taskToken, 'again');
  expect(await asked).toBe('again');
  expect(Date.now() - began).toBeGreaterThanOrEqual(QUERY_AGAIN_MS);
});

/** A closed run, and the worker for its queries. */
async function startClosed() {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const taskQueue = `test-${randomUUID()}`;
  const place = { namespace: 'default', taskQueue: { name: taskQueue } };
  const handle = await client.workflow.start('slow', { taskQueue, workflowId: taskQueue });
  const poll = () =>
    connection.withDeadline(Date.now() + 40_000, () => connection.workflowService.pollWorkflowTaskQueue({ ...place, identity: 'slow' }));
  const answer = (taskToken: Uint8Array, text: string) =>
    connection.workflowService.respondQueryTaskCompleted({
      taskToken,
      namespace: 'default',
      completedType: temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_ANSWERED,
      queryResult: { payloads: [defaultPayloadConverter.toPayload(text)] },
    });
  const { taskToken } = await poll();
  const commands = [
    {
      commandType: temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
      completeWorkflowExecutionCommandAttributes: {},
    },
  ];
  await connection.workflowService.respondWorkflowTaskCompleted({ taskToken, namespace: 'default', identity: 'slow', commands });
  await handle.result();
  return { access: new TemporalAccess({ client, taskQueue, address: '', tls: false, inputBytesMax: 1_000 }), handle, poll, answer };
}
