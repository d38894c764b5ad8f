import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { sessionId } from '../../../src/contracts/handlers.js';
import { until } from '../../support/use-workers.js';

const IDENTITY = 'test';
/** From the third attempt on, the server refuses updates and queries. */
const ATTEMPTS = 3;
const UNFINISHED = 'no worker completed the last workflow task in several attempts (see the history in the Web UI)';

test('what is sent to a session whose tasks fail or are lost can be sent again', { timeout: 90_000 }, async () => {
  const session = await startFailing();
  const error = { code: 'NO_WORKER', exitCode: 5 };
  await expect(session.send({ id: 'second', text: 'hi' })).rejects.toMatchObject({
    ...error,
    message: `${UNFINISHED}; no receipt, the message may still be accepted; send again with the same id second`,
  });
  await expect(session.unsend('first')).rejects.toMatchObject({ ...error, message: `${UNFINISHED}; send the request again` });
  await expect(session.query()).rejects.toMatchObject(error);
});

/** A session whose first task several workers took, and none completed. */
async function startFailing() {
  const address = inject('temporalAddress');
  const taskQueue = `test-${randomUUID()}`;
  const client = await AgentClient.connect({ address, taskQueue });
  const connection = await Connection.connect({ address });
  onTestFinished(async () => {
    await Promise.all([client.close(), connection.close()]);
  });
  const session = client.session(`s-${randomUUID()}`);
  await session.message({ id: 'first', text: 'hi' });
  for (let failed = 0; failed < ATTEMPTS; failed += 1) await failTask(connection, taskQueue);
  // the server counts an attempt when it schedules the next one
  const { workflow } = new Client({ connection });
  await until(async () => {
    const { raw } = await workflow.getHandle(sessionId(session.key)).describe();
    return (raw.pendingWorkflowTask?.attempt ?? 0) > ATTEMPTS;
  }, 'the next attempt');
  return session;
}

async function failTask(connection: Connection, name: string): Promise<void> {
  const { workflowService } = connection;
  const { taskToken } = await connection.withDeadline(Date.now() + 40_000, () =>
    workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue: { name }, identity: IDENTITY }),
  );
  const cause = temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE;
  await workflowService.respondWorkflowTaskFailed({ namespace: 'default', taskToken, identity: IDENTITY, cause });
}
