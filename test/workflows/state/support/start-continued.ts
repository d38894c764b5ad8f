import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { WorkflowContinuedAsNewError, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection } from '@temporalio/worker';
import { expect, inject } from 'vitest';
import type { RunResult } from '../../../../src/contracts/schemas/run.js';
import type { AgentWorker } from '../../../support/agent-worker.js';
import { createTestWorker } from '../../../support/test-worker.js';

const WORKFLOWS = fileURLToPath(new URL('./continue-as-new.ts', import.meta.url));

/** Starts a run as an execution that continued as new with this state: from outside, a run takes no state. */
export async function startContinued(
  { client, taskQueue }: AgentWorker,
  args: readonly unknown[],
): Promise<WorkflowHandle<() => Promise<RunResult>>> {
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const ownQueue = `continue-${randomUUID()}`;
  const workflowBundle = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR') });
  const worker = await createTestWorker({ connection, taskQueue: ownQueue, workflowBundle });
  const workflowId = `run-${randomUUID()}`;
  await worker.runUntil(async () => {
    const first = await client.workflow.start('continueAsAgentRun', { taskQueue: ownQueue, workflowId, args: [taskQueue, ...args] });
    const ended = client.workflow.getHandle(workflowId, first.firstExecutionRunId, { followRuns: false }).result();
    await expect(ended).rejects.toThrow(WorkflowContinuedAsNewError);
  });
  await connection.close();
  return client.workflow.getHandle(workflowId);
}
