import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { AgentActivities, AwaitRunResult } from '../../contracts/activities.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import { messageOf } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';

/** Makes the activity `awaitRun`: waits for the end of a sub-agent, also over continue-as-new. Throws when the server cannot be reached. */
export function createAwaitRun(): AgentActivities['awaitRun'] {
  return ({ runId, executionId }) => {
    const startedAt = Date.now();
    const { client, cancelled } = Context.current();
    return withHeartbeat(
      'awaitRun',
      () => ({ phase: `waiting for ${runId}`, elapsedMs: Date.now() - startedAt }),
      async () => await Promise.race([endOf(client, { runId, executionId }), cancelled]),
    );
  };
}

async function endOf(
  { workflow }: Context['client'],
  { runId, executionId }: { readonly runId: string; readonly executionId: string },
): Promise<AwaitRunResult> {
  try {
    // a run returns nothing else
    return { kind: 'ended', result: (await workflow.getHandle(runId, executionId).result()) as RunResult };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'lost', why: 'the server no longer has it' };
    // the client's class: activities do not import the client
    if (!(error instanceof Error) || error.name !== 'WorkflowFailedError') throw error;
    const { cause } = error;
    const result: unknown =
      cause !== null && typeof cause === 'object' && 'details' in cause && Array.isArray(cause.details) ? cause.details[0] : undefined;
    // the whole result is in the details of a run that failed
    if (typeof result === 'object' && result !== null && 'reason' in result) return { kind: 'ended', result: result as RunResult };
    return { kind: 'lost', why: messageOf(cause ?? error) };
  }
}
