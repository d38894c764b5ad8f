import { ApplicationFailure } from '@temporalio/client';
import type { AgentWorker } from '../../support/agent-worker.js';
import { type TestRun, until } from '../../support/use-workers.js';

/** Fails the running tool call of a run as the next command does that finds its worker dead; or as one that proves nothing. */
export async function loseWorker(on: AgentWorker, run: TestRun, type: 'Worker.Died' | 'Worker.Shutdown' = 'Worker.Died'): Promise<void> {
  await until(async () =>
    ((await run.handle.describe()).raw.pendingActivities ?? []).some(
      (a) => a.activityType?.name === 'callTool' && a.lastWorkerIdentity !== '',
    ),
  );
  const described = await run.handle.describe();
  const activityId = described.raw.pendingActivities?.find((a) => a.activityType?.name === 'callTool')?.activityId ?? '';
  await on.client.activity.fail(
    { workflowId: run.runId, runId: described.runId, activityId },
    ApplicationFailure.create({ type, nonRetryable: true, message: 'its process is gone' }),
  );
}
