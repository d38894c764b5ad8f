import type { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';

/**
 * True for a run that is closed, or that the server does not know any more; one that went on in a fresh history is open. Never throws:
 * false for a server that cannot be asked now.
 */
export async function isRunOver({ workflow }: Pick<Context['client'], 'workflow'>, runId: string): Promise<boolean> {
  try {
    const { closeTime } = await workflow.getHandle(runId).describe();
    return closeTime !== undefined;
  } catch (error) {
    return error instanceof WorkflowNotFoundError;
  }
}
