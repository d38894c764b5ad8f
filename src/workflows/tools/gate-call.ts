import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { CallDecision } from '../../contracts/schemas/carried-state.js';
import type { JsonValue, ToolCallPart } from '../../contracts/schemas/message.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { toolTitle } from '../../contracts/tool-title.js';
import { gateTool } from '../policies/tools/tool-gate.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { checkTool } from '../temporal/proxies.js';

/**
 * What the run's own gate says of a call. An unknown tool passes, and so do arguments that are no JSON object: neither can run, and their
 * result tells the model why.
 */
export function gateCall(run: Run, call: ToolCallPart): CallDecision {
  const tool = run.descriptor(call.name);
  return tool && call.argsText === undefined ? gateArgs(run, tool, call.args) : { decision: 'allow', by: 'gate' };
}

/** True when the config has a say in this call too. */
export function needsCheck(run: Run, call: ToolCallPart, gate: CallDecision): boolean {
  if (gate.decision === 'block' || call.argsText !== undefined) return false;
  const tool = run.descriptor(call.name);
  return tool ? tool.checked === true : run.policy.hooks.unknownTools;
}

/**
 * What gate, hooks and approval of the config say of a call that the run's own gate let through; both must agree to allow it. A check
 * that fails is a block. Undefined when the run must stop first.
 */
export async function checkCall(run: Run, call: ToolCallPart, gate: CallDecision): Promise<CallDecision | undefined> {
  const tool = run.descriptor(call.name);
  const check = await askConfig(run, call, { asked: gate.decision === 'ask', approval: tool?.approval === true });
  if (!tool || !check || check.decision === 'block' || check.decision === 'abort') return check;
  // a hook may not write what the gate would have stopped
  const gateNow = check.args === undefined ? gate : gateArgs(run, tool, check.args);
  if (gateNow.decision === 'allow') return check;
  return { ...gateNow, ...(check.args === undefined ? {} : { args: check.args }) };
}

function gateArgs(run: Run, tool: ToolDescriptor, args: JsonValue): CallDecision {
  const { decision, by, reason } = gateTool(run.policy.gate, tool, args);
  if (decision === 'allow' && tool.effect !== 'read' && asksAfterFailover(run)) {
    return { decision: 'ask', by: 'failover', reason: `the run went on with ${run.route.model} in place of its first model` };
  }
  return { decision, by, ...(reason === undefined ? {} : { reason }) };
}

/** Another model than the one chosen may do other things: where that is wanted, a person looks at what may change the world. */
function asksAfterFailover({ policy, route }: Run): boolean {
  return policy.failoverGate === 'ask' && route.hasFailedOver;
}

/** Only decides, so a lost worker's question is asked again. */
async function askConfig(
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
    ...(approval ? { approval } : {}),
  };
  const summary = `turn ${turn}: may it? ${toolTitle(call.name, call.args)}`;
  for (let losses = 1; !run.mustStop; losses += 1) {
    try {
      return await run.calls.abortable(() => checkTool(input, { summary }));
    } catch (error) {
      const problem = readActivityProblem(error);
      const isLost = problem.workerLost || problem.cancelled;
      if (!isLost || losses > RUN_LIMITS.workerLossesMax) {
        return { decision: 'block', by: 'check', reason: `the check failed: ${problem.type}: ${problem.message}` };
      }
      if (!run.mustStop) run.events.add({ type: 'worker.lost', turn, activity: 'checkTool', losses });
    }
  }
  return undefined;
}
