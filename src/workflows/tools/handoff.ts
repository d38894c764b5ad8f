import { workflowInfo } from '@temporalio/workflow';
import type { PrepareRunInput } from '../../contracts/activities.js';
import { CAPABILITY_LEVEL } from '../../contracts/capability-level.js';
import { HANDOFF_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import { textOf } from '../../contracts/message-text.js';
import type { JsonValue, ToolCallPart } from '../../contracts/schemas/message.js';
import type { PreparedHandoffs, PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { HANDOFF_TOOL } from '../../contracts/text/ids.js';
import { cutText } from '../../contracts/text/redact.js';
import { publishAttributes } from '../operator/progress.js';
import { showDecision, waitForRoom } from '../operator/wait.js';
import { ModelRoute } from '../state/model-route.js';
import type { Run } from '../state/run.js';
import { lossShown, readActivityProblem } from '../temporal/failures.js';
import { prepareRun } from '../temporal/proxies.js';
import { signStart } from '../temporal/subagent-proxies.js';
import { type Settled, settledOwn } from './settled-call.js';
import { failedResult, notStartedResult, textResult } from './tool-results.js';

/** True for a call that hands the conversation to another agent. */
export function isHandoff({ prepared }: Run, { name }: Pick<ToolCallPart, 'name'>): boolean {
  return prepared.handoffs !== undefined && name === HANDOFF_TOOL;
}

/**
 * Runs a call of tool `handoff`: prepares the other agent, which continues the run after the other calls of the answer. A request that
 * cannot be fulfilled is a failed result, and the run keeps its agent.
 */
export async function handoff(run: Run, call: ToolCallPart, options: PreparedHandoffs): Promise<Settled> {
  const request = readRequest(call.args, options);
  if ('problem' in request) return refused(run, call, request.problem);
  const { perRunMax } = HANDOFF_LIMITS;
  if (run.agent.handoffs >= perRunMax)
    return refused(run, call, `not handed over: this run had ${perRunMax} handoffs; finish the task yourself`);
  if (!run.agent.claim(call.callId)) return refused(run, call, 'not handed over: one handoff per answer, and an earlier call has it');
  const next = await prepareAgent(run, request.agent, options);
  if (next === 'stopped') return settledOwn(notStartedResult(call, run.counters.turn, 'the run stops'), 'cancelled');
  if ('problem' in next) return refused(run, call, `not handed over: ${next.problem}`);
  run.agent.setNext({ callId: call.callId, prepared: next.prepared });
  const from = run.prepared.setup.agent;
  const text = `You are agent ${request.agent} now. Agent ${from} handed this conversation to you: continue it from here.`;
  return settledOwn(textResult(call, run.counters.turn, text), 'ok');
}

/** Called between turns: the agent that a call has prepared takes over. */
export function takeOver(run: Run): void {
  const next = run.agent.takeNext();
  if (!next) return;
  const { turn } = run.counters;
  const from = run.prepared.setup.agent;
  const before = run.route.model;
  become(run, next.prepared);
  const { setup, model, notices = [] } = run.prepared;
  run.events.add({ type: 'handoff', turn, callId: next.callId, from, to: setup.agent });
  for (const text of notices) run.events.add({ type: 'notice', text });
  const change = run.route.switchTo(model, turn, 'handoff');
  if (change) run.events.add({ type: 'model.switched', ...change });
  showDecision(run, `turn ${turn}: handed over from ${from} to ${setup.agent}`);
  publishAttributes(run, { AgentName: setup.agent, ...(model === before ? {} : { AgentModel: model }) });
}

/** Continues as another agent, with its prompt, tools, policy and models. Limits, spending, tenant and transcript are those of the run. */
function become(run: Run, next: PreparedRun): void {
  const { tenant: _, ...ofAgent } = next;
  const { tenant, cacheKey } = run.prepared;
  run.agent.become({ ...ofAgent, ...(tenant ? { tenant } : {}), ...(cacheKey === undefined ? {} : { cacheKey }) });
  const { cooldowns, switches, current = next.model } = run.route.carry();
  run.route = new ModelRoute(next, { cooldowns, switches, current, byModel: [] });
  // positions in the list of the agent before
  run.work = { ...run.work, phases: [] };
}

function readRequest(args: JsonValue, { agents }: PreparedHandoffs): { readonly agent: string } | { readonly problem: string } {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  const { agent, note } = given;
  const fields = ['agent', 'note'];
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  if (unknown !== undefined) return { problem: `${unknown}: unknown${didYouMean(unknown, fields)}` };
  if (typeof agent !== 'string') return { problem: `agent: a text is needed; available: ${agents.join(', ')}` };
  if (!agents.includes(agent)) {
    const shown = JSON.stringify(agent.slice(0, 80));
    return { problem: `no agent named ${shown} to hand over to${didYouMean(agent, agents)}; available: ${agents.join(', ')}` };
  }
  if (note !== undefined && note !== null && typeof note !== 'string') return { problem: 'note: a text is needed' };
  const { noteCharsMax } = HANDOFF_LIMITS;
  if (typeof note === 'string' && note.length > noteCharsMax)
    return { problem: `note: ${note.length} characters, at most ${noteCharsMax}` };
  return { agent };
}

/** Prepares an agent as the run was prepared at its start. Repeated after a lost worker, and when a disk has room again. */
async function prepareAgent(
  run: Run,
  agent: string,
  { signs }: PreparedHandoffs,
): Promise<{ readonly prepared: PreparedRun } | { readonly problem: string } | 'stopped'> {
  const { toolQueue: queue } = run.prepared;
  const given = inputOf(run, agent);
  for (let losses = 0; !run.mustStop; ) {
    try {
      return {
        prepared: await run.calls.abortable(async () => {
          const input = signs ? { ...given, ...(await signStart({ runId: run.runId, input: given })) } : given;
          const options = { summary: `prepare agent ${agent}`, ...(queue === undefined ? {} : { queue }) };
          return await prepareRun(requestOf(run, input), options);
        }),
      };
    } catch (error) {
      const problem = readActivityProblem(error);
      const isLost = problem.workerLost || problem.cancelled;
      if (run.mustStop) break;
      if (problem.type === 'Worker.DiskFull') {
        await waitForRoom(run, problem, queue);
        continue;
      }
      losses += 1;
      if (!isLost || losses > RUN_LIMITS.workerLossesMax) return { problem: `${problem.type}: ${problem.message}` };
      run.events.add({ type: 'worker.lost', turn: run.counters.turn, activity: 'prepareRun', losses, ...lossShown(problem) });
    }
  }
  return 'stopped';
}

function requestOf(run: Run, input: RunInput): PrepareRunInput {
  const { gateFrom, setup } = run.prepared;
  return {
    runId: run.runId,
    input,
    level: CAPABILITY_LEVEL,
    started: { at: new Date(Date.now()).toISOString(), executionId: `${workflowInfo().firstExecutionRunId}/${run.agent.handoffs + 1}` },
    waitsForRoom: true,
    handoff: { from: gateFrom ?? setup.agent },
  };
}

/** The input of the run for another agent, with what still counts: the transcript is not a part of it, nor is a long task. */
function inputOf(run: Run, agent: string): RunInput {
  const {
    auth: _auth,
    messages: _messages,
    inherits: _inherits,
    maxTokens: _tokens,
    maxCostUsd: _cost,
    deadlineMs: _deadline,
    ...input
  } = run.input;
  const { prompt, given } = run.prepared.setup;
  const { maxTurns, maxCostUsd } = run.caps;
  const [task] = run.transcript.since(run.taskId);
  return {
    ...input,
    // skills may match it
    task: cutText(task ? textOf(task) : '', HANDOFF_LIMITS.taskBytesMax),
    agent,
    maxTurns: Math.min(maxTurns, RUN_LIMITS.maxTurnsMax),
    // its models must have prices then
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(given ? { messages: [{ role: 'system', parts: [{ type: 'text', text: prompt.slice(given.from, given.to) }] }] } : {}),
  };
}

function refused(run: Run, call: ToolCallPart, problem: string): Settled {
  return settledOwn(failedResult(call, run.counters.turn, problem), 'failed');
}
