import { makeContinueAsNewFunc } from '@temporalio/workflow';
import type { agentRun } from '../../../../src/workflows/agent-run.js';

/** Goes on as a run of an agent on its queue, with the state that an earlier execution would have carried over. */
export function continueAsAgentRun(taskQueue: string, ...given: Parameters<typeof agentRun>): Promise<never> {
  return makeContinueAsNewFunc<typeof agentRun>({ workflowType: 'agentRun', taskQueue })(...given);
}
