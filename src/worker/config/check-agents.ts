import type { GateRule } from '../../contracts/schemas/policy.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { KeyReference } from '../../define/credentials.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import { meaninglessNames } from './check-hooks.js';
import { referenceProblems, thinkingProblems, wishProblems } from './check-models.js';
import { type KnownTools, PATH_ARGUMENTS, takesArgument } from './check-tools.js';

/** What a schema cannot see of an agent: tools and models that are nowhere, options that contradict each other. */
export function agentProblems(name: string, agent: AgentDefinition, config: Config, known: KnownTools): string[] {
  const path = `agents.${name}`;
  const providers = Object.keys(config.providers ?? {});
  return [
    ...missingTools(name, agent, known.names),
    ...wishProblems(`${path}.model`, agent.model, providers),
    ...(agent.fallbacks ?? []).flatMap((model, index) => wishProblems(`${path}.fallbacks.${index}`, model, providers)),
    ...thinkingProblems(`${path}.thinking`, agent, config),
    // asked as it stands, by an activity that looks nothing up
    ...referenceProblems(`${path}.compaction.summaryModel`, agent.compaction?.summaryModel, providers),
    ...executorProblems(path, agent),
    ...extensionProblems(name, agent),
    ...compactionProblems(name, agent, config.compactor !== undefined),
    ...gateProblems(name, agent.gate, known),
  ];
}

/** Who asks no model has no use for its options; and what looks like a reference must be one. */
function executorProblems(path: string, agent: AgentDefinition): string[] {
  const { executor } = agent;
  if (!executor || executor.kind === 'llm') return [];
  const idle = (['model', 'fallbacks', 'thinking'] as const).filter((field) => agent[field] !== undefined);
  const environment = 'env' in executor ? Object.entries(executor.env ?? {}) : [];
  const broken = environment.filter(([, value]) => value.startsWith('env:') && !KeyReference.safeParse(value).success);
  return [
    ...idle.map((field) => `${path}.${field}: an agent with a ${executor.kind} executor asks no model`),
    ...broken.map(([name]) => `${path}.executor.env.${name}: ${REFERENCE}`),
  ];
}

const REFERENCE = 'a value, or a reference like "env:NAME" or "file:/path"';

function missingTools(
  agent: string,
  { tools = [], blockedTools = [], completion }: AgentDefinition,
  toolNames: readonly string[],
): string[] {
  const lists = [...tools, ...blockedTools].map((name) => ({ path: `agents.${agent}`, name }));
  const phases = (completion?.phases ?? []).flatMap((phase, index) =>
    phase.tools.map((name) => ({ path: `agents.${agent}.completion.phases.${index}`, name })),
  );
  const plan = completion?.planTool === undefined ? [] : [{ path: `agents.${agent}.completion.planTool`, name: completion.planTool }];
  return [...lists, ...phases, ...plan]
    .filter(({ name }) => !toolNames.includes(name))
    .map(({ path, name }) => `${path}: no tool named ${name}${didYouMean(name, toolNames)}`);
}

function extensionProblems(agent: string, { autoExtend, maxTurns }: AgentDefinition): string[] {
  if (!autoExtend || maxTurns === undefined || autoExtend.hardCap >= maxTurns) return [];
  return [`agents.${agent}.autoExtend.hardCap: ${autoExtend.hardCap} is below maxTurns ${maxTurns}`];
}

function compactionProblems(agent: string, { compaction }: AgentDefinition, hasCompactor: boolean): string[] {
  const at = compaction?.strategies?.indexOf('custom') ?? -1;
  return at === -1 || hasCompactor ? [] : [`agents.${agent}.compaction.strategies.${at}: custom needs a compactor in the config`];
}

/** What a schema cannot see in an agent's gate: rules that could never match, and would be relied upon. */
function gateProblems(agent: string, gate: AgentDefinition['gate'], known: KnownTools): string[] {
  const rules = typeof gate === 'object' ? (gate.rules ?? []) : [];
  return rules.flatMap((rule, index) => ruleProblems(`agents.${agent}.gate.rules.${index}`, rule, known));
}

function ruleProblems(path: string, { tool, command, paths = [] }: GateRule, { names, tools }: KnownTools): string[] {
  const odd = paths.filter((glob) => /[[\]{}\\]/u.test(glob));
  return [
    ...meaninglessNames([tool], names).map((name) => `${path}.tool: no tool named ${name}${didYouMean(name, names)}`),
    ...(command?.trim() === '' ? [`${path}.command: the first words of a command`] : []),
    ...(command !== undefined && !takesArgument(tools, [tool], ['command']) ? [`${path}.command: ${tool} takes no command`] : []),
    ...(paths.length > 0 && !takesArgument(tools, [tool], PATH_ARGUMENTS) ? [`${path}.paths: ${tool} takes no path`] : []),
    ...odd.map((glob) => `${path}.paths: ${glob}: only *, ** and ? stand for something here; write a glob for each case`),
  ];
}
