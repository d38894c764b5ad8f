import type { CheckToolInput } from '../../contracts/activities.js';
import type { CallDecision } from '../../contracts/schemas/carried-state.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { redact } from '../../contracts/text/redact.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { GateAnswer, GateFunction } from '../../define/agent-gate.js';
import { askGate } from '../hooks/gate-function.js';
import type { HookOutcome, HookRunner } from '../hooks/hook-runner.js';
import { decisionSignal, throwIfStopped } from '../runtime/cancellation.js';
import { messageOf } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import type { KnownTools } from './hooked-result.js';
import { toolArguments } from './parse-tool-arguments.js';

/** The dependencies of the activity. */
export interface CheckToolOptions {
  readonly tools: KnownTools;
  readonly hooks: HookRunner;
  /** The `gate` of each agent whose gate is a function, by the agent's name. */
  readonly gates: ReadonlyMap<string, GateFunction>;
  readonly secrets: SecretMask;
}

/**
 * Makes the activity `checkTool`, which decides whether a call may run: by the agent's gate function, then the hooks before the tool, then
 * the tool's approval function. It also runs for unknown tools. It fails closed: a failed gate blocks, a failed approval function requires approval.
 */
export function createCheckTool(options: CheckToolOptions): (input: CheckToolInput) => Promise<CallDecision> {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'checkTool',
      () => ({ phase: 'checking gate and hooks', elapsedMs: Date.now() - startedAt, lastText: input.tool }),
      async () => {
        const decision = await checkTool(input, { ...options, signal: decisionSignal() });
        throwIfStopped(`the check of ${input.tool}`);
        return decision;
      },
    );
  };
}

interface Check extends CheckToolOptions {
  readonly signal: AbortSignal;
}

async function checkTool(input: CheckToolInput, options: Check): Promise<CallDecision> {
  const first = await gateAnswer(input, input.args, options);
  if (first.action === 'block') return { decision: 'block', by: 'gate', reason: first.reason };
  const hooked = await runHooks(input, options);
  if (hooked.action === 'block' || hooked.action === 'abort') {
    return { decision: hooked.action, by: `hook ${hooked.hook}`, reason: hooked.reason };
  }
  if (hooked.action === 'allow' || hooked.args === undefined) return decide(input, { asked: first, args: input.args }, options);
  const { args, hook } = hooked;
  const problem = schemaProblem(input.tool, args, options);
  if (problem !== undefined) return { decision: 'block', by: `hook ${hook}`, reason: `its changed arguments are not valid: ${problem}` };
  // the gate has not seen the changed arguments
  const again = await gateAnswer(input, args, options);
  if (again.action === 'block') return { decision: 'block', by: 'gate', reason: again.reason };
  return { ...decide(input, { asked: again, args }, options), args };
}

function decide(
  input: CheckToolInput,
  { asked, args }: { readonly asked: Exclude<GateAnswer, { action: 'block' }>; readonly args: JsonValue },
  options: CheckToolOptions,
): CallDecision {
  const approval = approvalReason(input, args, options);
  const gateAsks = input.asked || asked.action === 'ask';
  if (!gateAsks && approval === undefined) return { decision: 'allow', by: 'gate' };
  // a call that cannot run needs no approval
  const problem = schemaProblem(input.tool, args, options);
  if (problem !== undefined) return { decision: 'block', by: 'tool', reason: problem };
  if (!gateAsks) return { decision: 'ask', by: 'tool', ...(approval === undefined ? {} : { reason: approval }) };
  const reason = asked.action === 'ask' ? asked.reason : undefined;
  return { decision: 'ask', by: 'gate', ...(reason === undefined ? {} : { reason }) };
}

async function gateAnswer(input: CheckToolInput, args: JsonValue, { gates, tools, signal, secrets }: Check): Promise<GateAnswer> {
  const { runId, agent, turn, workspace } = input;
  const { gateAgent = agent } = input;
  const gate = gates.get(gateAgent);
  if (!gate) return input.gated ? { action: 'block', reason: `the gate of agent ${gateAgent} is not on this worker` } : { action: 'allow' };
  const tool = tools.get(input.tool);
  return await askGate({
    gate,
    secrets,
    context: { runId, agent, turn, args, ...(workspace === undefined ? {} : { workspace }), signal },
    tool: { name: input.tool, effect: tool?.effect ?? 'once', ...(tool?.network === undefined ? {} : { network: tool.network }) },
  });
}

function runHooks(input: CheckToolInput, { hooks, signal }: Check): Promise<HookOutcome> {
  const { runId, agent, turn, tool, args, workspace } = input;
  return hooks.run('before-tool', { runId, agent, turn, tool, args, ...(workspace === undefined ? {} : { workspace }), signal });
}

/**
 * Why the tool requires approval; undefined when it does not. A requirement from the start of the run stays, also without the tool on this
 * worker.
 */
function approvalReason(input: CheckToolInput, args: JsonValue, { tools, secrets }: CheckToolOptions): string | undefined {
  const { tool: name, runId } = input;
  const tool = tools.get(name);
  if (!tool || tool.approval === 'never') return input.approval ? 'this tool required approval when the run started' : undefined;
  if (tool.approval === 'always') return 'every call of this tool requires approval';
  const parsed = toolArguments({ tool: name, args }, tool);
  if ('problem' in parsed) return parsed.problem;
  try {
    // the arguments were parsed by this tool's own schema
    const asks: unknown = tool.approval(parsed.args as never, { runId });
    // only `false` allows the call: a promise or undefined is not a valid return value
    return asks === false ? undefined : 'the tool requires approval for these arguments';
  } catch (error) {
    return `the tool's approval function failed: ${redact(messageOf(error, secrets))}`;
  }
}

function schemaProblem(name: string, args: JsonValue, { tools }: CheckToolOptions): string | undefined {
  const tool = tools.get(name);
  const parsed = tool && toolArguments({ tool: name, args }, tool);
  return parsed && 'problem' in parsed ? parsed.problem : undefined;
}
