import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { type ChildWorkflowHandle, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { PAYLOAD_LIMITS, RUN_LIMITS, SUBAGENT_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import { AGENT_RUN } from '../../contracts/handlers.js';
import type { RunInput, RunResult } from '../../contracts/schemas/run.js';
import type { LiveSubagent, PreparedDelegation, SubagentShare } from '../../contracts/schemas/subagent.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { signStart } from '../temporal/subagent-proxies.js';

/** A task for a sub-agent. */
export interface DelegatedTask {
  readonly callId: string;
  readonly agent: string;
  readonly task: string;
  readonly share: SubagentShare;
  /** The call does not wait for the end. */
  readonly background: boolean;
}

/** A sub-agent that was started, and its end as the server reports it to this history. */
export interface StartedSubagent {
  readonly subagent: LiveSubagent;
  readonly handle: ChildWorkflowHandle<(input: RunInput) => Promise<RunResult>>;
}

/** Starts a sub-agent as a child run `RUN/AGENT-n`. Resolves once the server has it, or with the reason why it cannot be started. */
export async function startSubagent(
  run: Run,
  task: DelegatedTask,
  delegation: PreparedDelegation,
): Promise<StartedSubagent | { readonly problem: string }> {
  const { callId, agent, share } = task;
  const background = task.background ? { background: true } : {};
  for (let tried = 0; tried < SUBAGENT_LIMITS.idsTriedMax; tried += 1) {
    const runId = `${run.runId}/${idPart(agent)}-${run.subagents.nextNumber(agent)}`;
    // reserved before the first await: calls of the same answer share what is left
    const subagent = { runId, executionId: '', agent, callId, share, ...background };
    run.subagents.add(subagent);
    try {
      const input = await signed(run, { runId, input: inputOf(run, task, delegation) }, delegation);
      const handle = await startChild<(input: RunInput) => Promise<RunResult>>(AGENT_RUN, {
        workflowId: runId,
        args: [input],
        // a parent that is terminated takes its sub-agents with it; one that continues as new tells them so first
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        memo: memoOf(input, task.task),
        staticSummary: `${agent}: ${lineOf(task.task)}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax),
      });
      const started = { ...subagent, executionId: handle.firstExecutionRunId };
      run.subagents.add(started);
      run.events.add({ type: 'subagent.started', turn: run.counters.turn, callId, runId, agent, ...background });
      return { subagent: started, handle };
    } catch (error) {
      run.subagents.drop(callId);
      // an earlier run of the same id may have left one at work
      if (error instanceof WorkflowExecutionAlreadyStartedError) continue;
      const { type, message } = readActivityProblem(error);
      return { problem: `${type}: ${message}` };
    }
  }
  return { problem: `${SUBAGENT_LIMITS.idsTriedMax} earlier sub-agents of this run and agent are still at work` };
}

/** The input of the sub-agent: its part of the parent's limits, and whatever else of the parent applies to it. */
function inputOf(run: Run, { agent, task, callId, share }: DelegatedTask, { agents, depthLeft }: PreparedDelegation): RunInput {
  const { input, clock } = run;
  const { context, tenant, bounds, allowUnknownPrice } = input;
  return {
    v: 1,
    task,
    agent,
    ...modelOf(run, agents.find(({ name }) => name === agent)?.hasModel === true),
    ...(share.tokens === undefined ? {} : { maxTokens: share.tokens }),
    ...(share.costUsd === undefined ? {} : { maxCostUsd: share.costUsd }),
    ...(clock.deadlineMs === undefined ? {} : { deadlineMs: Math.max(RUN_LIMITS.deadlineMsMin, Math.floor(clock.leftMs ?? 0)) }),
    context: { ...context, subAgentContext: contextFrom(run.prepared.setup.agent) },
    ...(tenant === undefined ? {} : { tenant }),
    ...(bounds === undefined ? {} : { bounds }),
    ...(allowUnknownPrice === undefined ? {} : { allowUnknownPrice }),
    // a sub-agent has nobody to ask
    onBudget: 'finish',
    parent: { runId: run.runId, agent: run.prepared.gateFrom ?? run.prepared.setup.agent, callId, depthLeft: depthLeft - 1 },
  };
}

/** What a sub-agent must know of its place; a section of its prompt. */
function contextFrom(parent: string): string {
  return `Agent ${parent} gave you this task. It sees nothing but your last answer: put everything into it that the task asks for.`;
}

/** The model that the parent's start asked for; else the sub-agent's own, else the parent's. */
function modelOf({ input, prepared }: Run, hasModel: boolean): Pick<RunInput, 'model' | 'fallbacks' | 'thinking'> {
  const { model, fallbacks, thinking } = input;
  if (model === undefined && hasModel) return {};
  return {
    model: model ?? prepared.model,
    ...(fallbacks === undefined ? {} : { fallbacks }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}

async function signed(
  run: Run,
  request: { readonly runId: string; readonly input: RunInput },
  { signs }: PreparedDelegation,
): Promise<RunInput> {
  if (!signs) return request.input;
  const { auth } = await run.calls.abortable(() => signStart(request));
  return { ...request.input, auth };
}

/** The memo that clients give a run: lists show its task, and `continue` copies its options. */
function memoOf({ auth: _auth, parent: _parent, ...input }: RunInput, task: string): Record<string, unknown> {
  const { task: _task, ...options } = input;
  return { inputHash: hashJson(input), task: lineOf(task), options };
}

function lineOf(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 120)
    .toWellFormed();
}

/** The name of an agent as a part of a run id. */
function idPart(agent: string): string {
  return agent.replaceAll(/[^\w.:-]/gu, '-').slice(0, 100);
}
