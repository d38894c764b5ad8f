import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { CallDecision } from '../../contracts/schemas/carried-state.js';
import type { JsonValue, ToolCallPart } from '../../contracts/schemas/message.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { toolTitle } from '../../contracts/text/tool-title.js';
import { gateTool } from '../policies/tools/tool-gate.js';
import type { Run } from '../state/run.js';
import { lossShown, readActivityProblem } from '../temporal/failures.js';
import { checkTool } from '../temporal/proxies.js';

/**
 * The decision of the run's own gate about a call. Unknown tools and arguments that are not a JSON object pass: they cannot run, and
 * their result explains why.
 */
export function gateCall(run: Run, call: ToolCallPart): CallDecision {
  const tool = run.descriptor(call.name);
  return tool && call.argsText === undefined ? gateArgs(run, tool, call.args) : { decision: 'allow', by: 'gate' };
}

/** True when the config's gate, hooks or approval function must check this call too. */
export function needsCheck(run: Run, call: ToolCallPart, gate: CallDecision): boolean {
  if (gate.decision === 'block' || call.argsText !== undefined) return false;
  const tool = run.descriptor(call.name);
  return tool ? tool.checked === true : run.policy.hooks.unknownTools;
}

/**
 * The decision of the config's gate, hooks and approval function about a call that the run's own gate did not block. Both must allow the
 * call. A failed check blocks it. Undefined when the run must stop first.
 */
export async function checkCall(run: Run, call: ToolCallPart, gate: CallDecision): Promise<CallDecision | undefined> {
  const tool = run.descriptor(call.name);
  const check = await callCheckTool(run, call, { asked: gate.decision === 'ask', approval: tool?.approval === true });
  if (!tool || !check || check.decision === 'block' || check.decision === 'abort') return check;
  // the run's gate also applies to arguments that a hook wrote
  const gateNow = check.args === undefined ? gate : gateArgs(run, tool, check.args);
  if (gateNow.decision === 'allow') return check;
  return { ...gateNow, ...(check.args === undefined ? {} : { args: check.args }) };
}

function gateArgs(run: Run, tool: ToolDescriptor, args: JsonValue): CallDecision {
  const { decision, by, reason } = gateTool(run.policy.gate, tool, args);
  if (decision === 'allow' && tool.effect !== 'read' && needsApprovalAfterFailover(run)) {
    return { decision: 'ask', by: 'failover', reason: `the run failed over from its first model to ${run.route.model}` };
  }
  return { decision, by, ...(reason === undefined ? {} : { reason }) };
}

/** True when calls with side effects need approval after a failover (`failoverGate: "ask"`): a different model may act differently. */
function needsApprovalAfterFailover({ policy, route }: Run): boolean {
  return policy.failoverGate === 'ask' && route.hasFailedOver;
}

/** Runs activity `checkTool`. It has no side effects, so it is repeated after a lost worker. */
async function callCheckTool(
  run: Run,
  call: ToolCallPart,
  { asked, approval }: { readonly asked: boolean; readonly approval: boolean },
): Promise<CallDecision | undefined> {
  const { turn } = run.counters;
  const workspace = run.input.context?.workspace;
  const input = {
    runId: run.runId,
    agent: run.prepared.setup.agent,
    turn,
    callId: call.callId,
    tool: call.name,
    args: call.args,
    ...(workspace === undefined ? {} : { workspace }),
    asked,
    ...(run.policy.gateFunction ? { gated: true } : {}),
    ...(run.prepared.gateAgent === undefined ? {} : { gateAgent: run.prepared.gateAgent }),
    ...(approval ? { approval } : {}),
  };
  const { heartbeatTimeoutMs } = run.prepared;
  const summary = `turn ${turn}: check ${toolTitle(call.name, call.args)}`;
  for (let losses = 1; !run.mustStop; losses += 1) {
    try {
      return await run.calls.abortable(() => checkTool(input, { summary, heartbeatTimeoutMs }));
    } catch (error) {
      const problem = readActivityProblem(error);
      const isLost = problem.workerLost || problem.cancelled;
      if (!isLost || losses > RUN_LIMITS.workerLossesMax) {
        return { decision: 'block', by: 'check', reason: `the check failed: ${problem.type}: ${problem.message}` };
      }
      if (!run.mustStop) run.events.add({ type: 'worker.lost', turn, activity: 'checkTool', losses, ...lossShown(problem) });
    }
  }
  return undefined;
}
