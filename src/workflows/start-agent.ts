import { type ChildWorkflowHandle, type ChildWorkflowOptions, executeChild, startChild } from '@temporalio/workflow';
import { AGENT_RUN } from '../contracts/handlers.js';
import type { RunInput, RunResult } from '../contracts/schemas/run.js';
import type { agentRun } from './agent-run.js';

/** Options for an agent run as a child of a user's own workflow; `workflowId` is the run id. */
export type StartAgentOptions = Omit<ChildWorkflowOptions, 'args'>;

/** Starts an agent run from inside a workflow and returns its handle once it is started. */
export function startAgent(input: RunInput, options: StartAgentOptions = {}): Promise<ChildWorkflowHandle<typeof agentRun>> {
  return startChild<typeof agentRun>(AGENT_RUN, { staticSummary: summaryOf(input), ...options, args: [input] });
}

/** Runs an agent from inside a workflow to its end. Rejects only for reason `error`: every other end is a result. */
export function executeAgent(input: RunInput, options: StartAgentOptions = {}): Promise<RunResult> {
  return executeChild<typeof agentRun>(AGENT_RUN, { staticSummary: summaryOf(input), ...options, args: [input] });
}

function summaryOf({ task, agent }: RunInput): string {
  const text = typeof task === 'string' ? task : 'task with parts';
  return `${agent ?? 'default'}: ${text}`.slice(0, 200);
}
