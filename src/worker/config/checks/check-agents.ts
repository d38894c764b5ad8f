import { SUBAGENT_LIMITS } from '../../../contracts/constants/limits.js';
import type { GateRule } from '../../../contracts/schemas/policy.js';
import { didYouMean } from '../../../contracts/text/did-you-mean.js';
import { DELEGATE_TOOL, HANDOFF_TOOL } from '../../../contracts/text/ids.js';
import { type AgentDefinition, type SubagentOptions, subagentOptions } from '../../../define/define-agent.js';
import type { Config } from '../../../define/define-config.js';
import { KeyReference } from '../../../define/worker/credentials.js';
import { unmatchedPatterns } from './check-hooks.js';
import { modelProblem, referenceProblems, thinkingProblems } from './check-models.js';
import { isOfServer, type KnownTools, PATH_ARGUMENTS, takesArgument } from './check-tools.js';

/** Checks an agent beyond its schema: unknown tools and models, options that contradict each other. */
export function agentProblems(name: string, agent: AgentDefinition, config: Config, known: KnownTools): string[] {
  const path = `agents.${name}`;
  const providers = Object.keys(config.providers ?? {});
  return [
    ...missingTools(name, agent, known),
    ...serverProblems(name, agent, known),
    ...modelProblem(`${path}.model`, agent.model, providers),
    ...(agent.fallbacks ?? []).flatMap((model, index) => modelProblem(`${path}.fallbacks.${index}`, model, providers)),
    ...thinkingProblems(`${path}.thinking`, agent, config),
    // the activity does not search for a bare name, so the provider is required
    ...referenceProblems(`${path}.compaction.summaryModel`, agent.compaction?.summaryModel, providers),
    ...promptProblems(path, agent),
    ...executorProblems(path, agent),
    ...extensionProblems(name, agent),
    ...compactionProblems(name, agent, config.compactor !== undefined),
    ...gateProblems(name, agent.gate, known),
    ...subagentProblems(name, agent.subagents, config),
    ...handoffProblems(name, agent.handoffs, config),
  ];
}

/** Checks for options of the prompt that would have no effect. */
function promptProblems(path: string, agent: AgentDefinition): string[] {
  const { prompt, promptTemplate, promptMode, skills, workspaceSkills = false, expandSkills = false } = agent;
  const hasSkills = skills !== undefined || workspaceSkills;
  const isWithout = promptMode === 'minimal' || promptMode === 'none';
  return [
    ...(promptTemplate && typeof prompt === 'function' ? [`${path}.promptTemplate: not used with a prompt that is a function`] : []),
    ...(hasSkills && isWithout ? [`${path}.promptMode: a prompt of mode ${promptMode} has no skills; remove them, or the mode`] : []),
    ...(expandSkills && !hasSkills ? [`${path}.expandSkills: the agent has no skills; set skills or workspaceSkills`] : []),
  ];
}

/** Checks that an agent without a model has no model options, and that references in its environment are valid. */
function executorProblems(path: string, agent: AgentDefinition): string[] {
  const { executor } = agent;
  if (!executor || executor.kind === 'llm') return [];
  const unused = (['model', 'fallbacks', 'thinking'] as const).filter((field) => agent[field] !== undefined);
  const environment = 'env' in executor ? Object.entries(executor.env ?? {}) : [];
  const broken = environment.filter(([, value]) => value.startsWith('env:') && !KeyReference.safeParse(value).success);
  return [
    ...unused.map((field) => `${path}.${field}: not used by an agent with a ${executor.kind} executor; remove it`),
    ...broken.map(([name]) => `${path}.executor.env.${name}: ${REFERENCE}`),
  ];
}

const REFERENCE = 'use a value, or a reference such as "env:NAME" or "file:/path"';

function missingTools(
  agent: string,
  { tools = [], blockedTools = [], completion }: AgentDefinition,
  { names: toolNames, servers }: KnownTools,
): string[] {
  const lists = [...tools, ...blockedTools].map((name) => ({ path: `agents.${agent}`, name }));
  const phases = (completion?.phases ?? []).flatMap((phase, index) =>
    phase.tools.map((name) => ({ path: `agents.${agent}.completion.phases.${index}`, name })),
  );
  const plan = completion?.planTool === undefined ? [] : [{ path: `agents.${agent}.completion.planTool`, name: completion.planTool }];
  return [...lists, ...phases, ...plan]
    .filter(({ name }) => !toolNames.includes(name) && !isOfServer(name, servers))
    .map(({ path, name }) => `${path}: no tool named "${name}"${didYouMean(name, toolNames)}`);
}

function extensionProblems(agent: string, { autoExtend, maxTurns }: AgentDefinition): string[] {
  if (!autoExtend || maxTurns === undefined || autoExtend.hardCap >= maxTurns) return [];
  return [`agents.${agent}.autoExtend.hardCap: ${autoExtend.hardCap} is below maxTurns ${maxTurns}`];
}

function compactionProblems(agent: string, { compaction }: AgentDefinition, hasCompactor: boolean): string[] {
  const at = compaction?.strategies?.indexOf('custom') ?? -1;
  return at === -1 || hasCompactor ? [] : [`agents.${agent}.compaction.strategies.${at}: "custom" needs a compactor in the config`];
}

/** Checks that the agents of a list exist, and that the agent itself is there, or below them, only where it says so. */
function subagentProblems(agent: string, subagents: AgentDefinition['subagents'], { agents = {}, tools = [] }: Config): string[] {
  const options = subagentOptions(subagents);
  if (!options) return [];
  const path = `agents.${agent}.subagents`;
  const names = Object.keys(agents);
  const unknown = options.agents.filter((name) => !names.includes(name));
  return [
    ...unknown.map((name) => `${path}: no agent named "${name}"${didYouMean(name, names)}`),
    ...(options.agents.includes(agent) && !options.allowSelf
      ? [`${path}: ${agent} is the agent itself; set allowSelf to delegate to itself`]
      : []),
    ...loopProblems(agent, options, agents).map((problem) => `${path}: ${problem}`),
    ...(tools.some(({ name }) => name === DELEGATE_TOOL) ? [`${path}: the config has a tool named ${DELEGATE_TOOL}; rename it`] : []),
  ];
}

/** The sub-agents that would start the agent again, below themselves: two levels are the most there are. */
function loopProblems(
  agent: string,
  { agents: below, depth = SUBAGENT_LIMITS.depthDefault, allowSelf }: SubagentOptions,
  agents: Readonly<Record<string, AgentDefinition>>,
): string[] {
  if (depth < 2 || allowSelf) return [];
  const loops = below.filter((name) => name !== agent && subagentOptions(agents[name]?.subagents)?.agents.includes(agent));
  return loops.map(
    (name) => `DELEGATE_LOOP ${agent} delegates to ${name}, which delegates to ${agent}; remove one of them, or set allowSelf`,
  );
}

/** Checks that the agents of a list exist and are others, and that no tool of the config has the name of the tool for them. */
function handoffProblems(agent: string, handoffs: AgentDefinition['handoffs'], { agents = {}, tools = [] }: Config): string[] {
  if (!handoffs) return [];
  const path = `agents.${agent}.handoffs`;
  const names = Object.keys(agents);
  return [
    ...handoffs.filter((name) => !names.includes(name)).map((name) => `${path}: no agent named "${name}"${didYouMean(name, names)}`),
    ...(handoffs.includes(agent) ? [`${path}: ${agent} is the agent itself; remove it`] : []),
    ...(tools.some(({ name }) => name === HANDOFF_TOOL) ? [`${path}: the config has a tool named ${HANDOFF_TOOL}; rename it`] : []),
  ];
}

function serverProblems(agent: string, { mcp = [] }: AgentDefinition, { servers }: KnownTools): string[] {
  const unknown = mcp.filter((name) => !servers.includes(name));
  return unknown.map((name) => `agents.${agent}.mcp: no MCP server named "${name}"${didYouMean(name, servers)}`);
}

/** Checks the gate of an agent beyond its schema: a rule that can never match gives a false sense of safety. */
function gateProblems(agent: string, gate: AgentDefinition['gate'], known: KnownTools): string[] {
  const rules = typeof gate === 'object' ? (gate.rules ?? []) : [];
  return rules.flatMap((rule, index) => ruleProblems(`agents.${agent}.gate.rules.${index}`, rule, known));
}

function ruleProblems(path: string, { tool, command, paths = [] }: GateRule, { names, tools, servers }: KnownTools): string[] {
  const isOfSome = isOfServer(tool, servers);
  const unsupported = paths.filter((glob) => /[[\]{}\\]/u.test(glob));
  return [
    ...(isOfSome ? [] : unmatchedPatterns([tool], names)).map((name) => `${path}.tool: no tool named "${name}"${didYouMean(name, names)}`),
    ...(command?.trim() === '' ? [`${path}.command: use the first words of a command`] : []),
    ...(command !== undefined && !takesArgument(tools, [tool], ['command']) ? [`${path}.command: ${tool} takes no command`] : []),
    ...(paths.length > 0 && !takesArgument(tools, [tool], PATH_ARGUMENTS) ? [`${path}.paths: ${tool} takes no path`] : []),
    ...unsupported.map((glob) => `${path}.paths: "${glob}": only *, ** and ? are supported; write one glob per case`),
  ];
}
