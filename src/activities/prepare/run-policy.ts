import { DEFAULT_POLICY, RunPolicy } from '../../contracts/schemas/policy.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import type { HookDefinition, HookPoint } from '../../define/define-hook.js';
import { PolicyOptions } from '../../define/policy-options.js';
import { type ExtensionRule, PRESETS } from '../../define/presets.js';

/** The sources of a policy. `maxTurns`: the resolved turn limit of the run. */
export interface PolicySources {
  readonly input: RunInput;
  readonly agent: AgentDefinition;
  readonly config: Config;
  readonly maxTurns: number;
}

/**
 * Resolves the policy of a run. Later sources override earlier ones: defaults, the config, the agent's preset, the agent's options, the
 * input's options.
 * Groups of options are merged field by field; a list is replaced as a whole.
 */
export function resolvePolicy({ input, agent, config, maxTurns }: PolicySources): RunPolicy {
  const preset = agent.preset === undefined ? undefined : PRESETS[agent.preset];
  const extension = preset?.extension && { autoExtend: extend(preset.extension, maxTurns) };
  const ofConfig: PolicyOptions = config.localReadTools === undefined ? {} : { localReadTools: config.localReadTools };
  const options = [{ ...preset?.policy, ...extension }, ownOptions(agent)].reduce(layOver, ofConfig);
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

/** The policy of a run without tools. Providers reject a request that forces a tool call without tools. */
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

/** The hook points of a config for which the workflow must run an activity. */
export function hookFlags(hooks: readonly HookDefinition[] = []): RunPolicy['hooks'] {
  const has = (point: HookPoint): boolean => hooks.some(({ on }) => on === point);
  return {
    beforeRun: has('before-run'),
    afterRun: has('after-run'),
    error: has('error'),
    unknownTools: hooks.some(meansUnknownTools),
  };
}

/** True when a hook may match unknown tools: it has no list of tools, or a glob in it. */
function meansUnknownTools({ on, tools = [] }: HookDefinition): boolean {
  return (on === 'before-tool' || on === 'after-tool') && (tools.length === 0 || tools.some((name) => name.includes('*')));
}
