import { DEFAULT_POLICY, RunPolicy } from '../../contracts/schemas/policy.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import type { HookDefinition, HookPoint } from '../../define/define-hook.js';
import { PolicyOptions } from '../../define/policy-options.js';
import { type ExtensionRule, PRESETS } from '../../define/presets.js';

/** What a policy is resolved from. `maxTurns` is the turn cap that the run has. */
export interface PolicySources {
  readonly input: RunInput;
  readonly agent: AgentDefinition;
  readonly config: Config;
  readonly maxTurns: number;
}

/**
 * Every option of a run's judgement: the defaults, over them the agent's preset, then the agent's own options, then the input's. An
 * option that has parts is laid over part by part; a list is one part.
 */
export function resolvePolicy({ input, agent, config, maxTurns }: PolicySources): RunPolicy {
  const preset = agent.preset === undefined ? undefined : PRESETS[agent.preset];
  const extension = preset?.extension && { autoExtend: extend(preset.extension, maxTurns) };
  const options = [{ ...preset?.policy, ...extension }, ownOptions(agent)].reduce(layOver, {});
  const ownGate = agent.gate !== undefined && typeof agent.gate !== 'function' ? agent.gate : undefined;
  const gate = { ...preset?.gate, ...(typeof ownGate === 'string' ? { profile: ownGate } : ownGate) };
  return RunPolicy.parse({
    ...options,
    gate,
    gateFunction: typeof agent.gate === 'function',
    hooks: hookFlags(config.hooks),
    onBudget: input.onBudget ?? agent.budget?.onBudget ?? DEFAULT_POLICY.onBudget,
    completion: { ...options.completion, custom: agent.completionGate !== undefined },
  });
}

/** A run without tools cannot be told to call one first: providers refuse such a request. */
export function withoutForcedTool(policy: RunPolicy): RunPolicy {
  return { ...policy, firstToolChoice: 'auto' };
}

function ownOptions(agent: AgentDefinition): PolicyOptions {
  const fields = Object.keys(PolicyOptions.shape).map((name) => [name, Reflect.get(agent, name)]);
  return PolicyOptions.parse(Object.fromEntries(fields));
}

function layOver(below: PolicyOptions, above: PolicyOptions): PolicyOptions {
  const merged: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    if (value === undefined) continue;
    const under = merged[name];
    merged[name] = isGroup(under) && isGroup(value) ? { ...under, ...given(value) } : value;
  }
  return PolicyOptions.parse(merged);
}

function extend(rule: ExtensionRule, maxTurns: number): NonNullable<RunPolicy['autoExtend']> {
  return {
    step: Math.max(rule.stepMin, Math.floor(maxTurns * rule.stepFraction)),
    hardCap: Math.min(rule.hardCapFactor * maxTurns, Math.max(rule.hardCapMax, maxTurns)),
  };
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function given(group: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== undefined));
}

/** Which hooks of a config the workflow must know of: it asks for them by activities of their own. */
export function hookFlags(hooks: readonly HookDefinition[] = []): RunPolicy['hooks'] {
  const has = (point: HookPoint): boolean => hooks.some(({ on }) => on === point);
  return {
    beforeRun: has('before-run'),
    afterRun: has('after-run'),
    error: has('error'),
    unknownTools: hooks.some(meansUnknownTools),
  };
}

/** A list of plain names means tools that there are; anything wider also those that a model makes up. */
function meansUnknownTools({ on, tools = [] }: HookDefinition): boolean {
  return (on === 'before-tool' || on === 'after-tool') && (tools.length === 0 || tools.some((name) => name.includes('*')));
}
