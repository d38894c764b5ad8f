import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { defineQuery } from '@temporalio/workflow';
import { expect, inject, test } from 'vitest';
import { TemporalAccess } from '../../../src/client/temporal/connection.js';

const ANSWER = defineQuery<string>('answer');

test('messages of a closed run are read though its worker replays it for longer than a query may take', { timeout: 60_000 }, async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const client = new Client({ connection });
  const taskQueue = `test-${randomUUID()}`;
  const place = { namespace: 'default', taskQueue: { name: taskQueue } };
  const handle = await client.workflow.start('slow', { taskQueue, workflowId: taskQueue });
  const poll = () =>
    connection.withDeadline(Date.now() + 40_000, () => connection.workflowService.pollWorkflowTaskQueue({ ...place, identity: 'slow' }));
  const { taskToken } = await poll();
  const commands = [
    {
      commandType: temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
      completeWorkflowExecutionCommandAttributes: {},
    },
  ];
  await connection.workflowService.respondWorkflowTaskCompleted({ taskToken, namespace: 'default', identity: 'slow', commands });
  await handle.result();

  const access = new TemporalAccess({ client, taskQueue, address: '', tls: false, inputBytesMax: 1_000 });
  const asked = access.queryReplayed(handle, ANSWER);
  // the first query is still replayed when its time is over
  await poll();
  const { taskToken: second } = await poll();
  await connection.workflowService.respondQueryTaskCompleted({
    taskToken: second,
    namespace: 'default',
    completedType: temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_ANSWERED,
    queryResult: { payloads: [defaultPayloadConverter.toPayload('late')] },
  });
  expect(await asked).toBe('late');
  await connection.close();
});
