import type { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';

/**
 * True for a run that is closed or that the server no longer has. A run that continued as new is open. Never throws: false when the server
 * is not reachable.
 */
export async function isRunOver({ workflow }: Pick<Context['client'], 'workflow'>, runId: string): Promise<boolean> {
  try {
    const { closeTime } = await workflow.getHandle(runId).describe();
    return closeTime !== undefined;
  } catch (error) {
    return error instanceof WorkflowNotFoundError;
  }
}
