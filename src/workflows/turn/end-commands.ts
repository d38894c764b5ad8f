import { workflowInfo } from '@temporalio/workflow';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { endCommands as endCommandsActivity } from '../temporal/proxies.js';

/**
 * Ends the background commands of a run that is about to end. A run that can start none has no such activity. Never rejects: workers end
 * the commands of runs that ended without it.
 */
export async function endCommands(run: Run): Promise<void> {
  if (!run.prepared.endsCommands) return;
  const { workflowId: runId, firstExecutionRunId: chain } = workflowInfo();
  try {
    await endCommandsActivity({ runId, chain }, run.prepared.toolQueue);
  } catch (error) {
    // rethrows all but the failure of an activity
    readActivityProblem(error);
  }
}
