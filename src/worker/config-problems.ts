import { z } from 'zod';
import { baseUrlProblem } from '../activities/providers/base-url.js';
import { KNOWN_PROVIDERS, providerNameProblem } from '../activities/providers/known-providers.js';
import { READ_ARTIFACT } from '../activities/tools/read-artifact.js';
import { WORKSPACE_TOOLS } from '../activities/tools/registry.js';
import { updatePlan } from '../activities/tools/update-plan.js';
import { TOOL_LIMITS } from '../contracts/limits.js';
import { ModelPrice } from '../contracts/model.js';
import { parseModelRef } from '../contracts/model-ref.js';
import { didYouMean } from '../contracts/nearest-name.js';
import { GatePolicy, GateRule, RequiredPhase } from '../contracts/policy.js';
import { ArtifactsDefinition } from '../define/artifacts-definition.js';
import { AgentDefinition } from '../define/define-agent.js';
import { Config } from '../define/define-config.js';
import { HookDefinition } from '../define/define-hook.js';
import { type AnyToolDefinition, parametersSchema } from '../define/define-tool.js';
import { ModelOptions } from '../define/model-options.js';
import { BudgetOptions, PolicyOptions } from '../define/policy-options.js';
import { HttpProvider, type ProviderDefinition } from '../define/provider-definition.js';
import { ProviderQuirks } from '../define/provider-quirks.js';
import type { AgentFile } from './agent-files.js';
import { gateProblems } from './gate-problems.js';
import { hookProblems } from './hook-problems.js';

/** Names that no tool of a config may have, and that its agents may list and block. */
const BUILT_IN_TOOLS = [...[...WORKSPACE_TOOLS, updatePlan].map(({ name }) => name), READ_ARTIFACT];

/** Fields and values of the contract whose feature is not in this version, by their place: refused, never ignored. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  '': ['mcpServers', 'plugins'],
  'agents.*': ['subagents', 'skills', 'mcp'],
};

/** Fields there are, by their place: what a mistyped one may have meant. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(Config.shape),
  'agents.*': Object.keys(AgentDefinition.shape),
  'agents.*.budget': Object.keys(BudgetOptions.shape),
  'agents.*.gate': Object.keys(GatePolicy.shape),
  'agents.*.gate.rules.*': Object.keys(GateRule.shape),
  'agents.*.completion.phases.*': Object.keys(RequiredPhase.shape),
  ...fieldsOfGroups('agents.*', PolicyOptions.shape),
  'hooks.*': Object.keys(HookDefinition.shape),
  'providers.*': Object.keys(HttpProvider.shape),
  'providers.*.quirks': Object.keys(ProviderQuirks.shape),
  'models.*': Object.keys(ModelOptions.shape),
  'prices.*': Object.keys(ModelPrice.shape),
  artifacts: Object.keys(ArtifactsDefinition.shape),
  limits: Object.keys(Config.shape.limits.unwrap().shape),
};

/** The fields of those options that have parts. */
function fieldsOfGroups(place: string, shape: typeof PolicyOptions.shape): Record<string, readonly string[]> {
  const groups = Object.entries(shape).map(([name, field]) => [`${place}.${name}`, field.unwrap()] as const);
  return Object.fromEntries(
    groups.flatMap(([path, group]) => (group instanceof z.ZodObject ? [[path, Object.keys(group.shape)] as const] : [])),
  );
}

/** Checks what a configuration file exports, with the agents of files. Gives the config, or all problems at once, each with its path. */
export function checkConfig(given: unknown, agentFiles: readonly AgentFile[]): { config: Config } | { problems: string[] } {
  const ofFiles = agentFiles.flatMap(({ name, file, agent, problem }) => (problem ? [`${file}: ${problem}`] : agentProblems(name, agent)));
  const parsed = Config.safeParse(given);
  if (!parsed.success) return { problems: [...describeIssues(parsed.error.issues, given), ...ofFiles] };
  const twice = agentFiles.filter(({ name }) => Object.hasOwn(parsed.data.agents ?? {}, name));
  const problems = [...ofFiles, ...twice.map(({ name, file }) => `agents.${name}: also in ${file}`)];
  if (problems.length > 0) return { problems: [...problems, ...meaningProblems(parsed.data)] };
  const agents = {
    ...parsed.data.agents,
    ...Object.fromEntries(agentFiles.map(({ name, agent }) => [name, AgentDefinition.parse(agent)])),
  };
  const config = agentFiles.length === 0 ? parsed.data : { ...parsed.data, agents };
  const wrong = meaningProblems(config);
  return wrong.length > 0 ? { problems: wrong } : { config };
}

function agentProblems(name: string, agent: unknown): string[] {
  const { error } = AgentDefinition.safeParse(agent);
  const issues = (error?.issues ?? []).map((issue) => ({ ...issue, path: ['agents', name, ...issue.path] }));
  return describeIssues(issues, { agents: { [name]: agent } });
}

function describeIssues(issues: readonly z.core.$ZodIssue[], given: unknown): string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    // what a record's entries are called is up to its writer
    const place = issue.path.map((name, index) => (index === 1 || typeof name === 'number' ? '*' : String(name))).join('.');
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key].join('.'), place, key));
    const value = valueAt(given, issue.path);
    const inside = issue.code === 'invalid_union' && isGroup(value) ? formMeant(issue.errors) : undefined;
    if (inside)
      return describeIssues(
        inside.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
        given,
      );
    if (LATER[place]?.includes(String(value))) return [`${path.join('.')}: ${String(value)} is not supported in this version`];
    return [`${path.join('.') || 'config'}: ${messageOf(issue)}${meantValue(issue, value)}`];
  });
}

/** The form of a union that takes options with parts, when such options were given: its problems are in the parts. */
function formMeant(forms: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  return forms.find((issues) => issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'));
}

function isGroup(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One of few words was mistyped. */
function meantValue(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return '';
  return didYouMean(value, issue.values.map(String));
}

function unknownKey(path: string, place: string, key: string): string {
  if (LATER[place]?.includes(key)) return `${path}: not supported in this version`;
  return `${path}: unknown${didYouMean(key, FIELDS[place] ?? [])}`;
}

/** A union that nothing fits says what each of its forms misses. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message;
  return [...new Set(issue.errors.flat().map(messageOf))].join(', or ');
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}

/** What a schema cannot see: names that collide, tools and providers that are nowhere, addresses that are none. */
function meaningProblems(config: Config): string[] {
  const {
    tools = [],
    agents = {},
    providers = {},
    credentials = {},
    prices = {},
    contextWindows = {},
    hooks = [],
    compactor,
    model,
  } = config;
  const providerNames = Object.keys(providers);
  const toolNames = [...tools.map(({ name }) => name), ...BUILT_IN_TOOLS];
  const known = { names: toolNames, tools: [...tools, ...WORKSPACE_TOOLS, updatePlan] };
  return [
    ...modelProblems('model', model, providerNames),
    ...duplicateTools(tools),
    ...tools.flatMap(toolProblems),
    ...Object.entries(agents).flatMap(([name, agent]) => [
      ...missingTools(name, agent, toolNames),
      ...modelProblems(`agents.${name}.model`, agent.model, providerNames),
      ...modelProblems(`agents.${name}.compaction.summaryModel`, agent.compaction?.summaryModel, providerNames),
      ...extensionProblems(name, agent),
      ...compactionProblems(name, agent, compactor !== undefined),
      ...gateProblems(name, agent.gate, known),
    ]),
    ...Object.entries(providers).flatMap(([name, provider]) => providerProblems(name, provider)),
    ...hookProblems(hooks, known),
    ...artifactsProblems(config),
    ...Object.keys(credentials).flatMap((name) =>
      [providerNameProblem(name, providerNames)].flatMap((it) => (it ? [`credentials: ${it}`] : [])),
    ),
    ...Object.keys(prices).flatMap((name) => modelProblems(`prices.${name}`, name, providerNames)),
    ...Object.keys(contextWindows).flatMap((name) => modelProblems(`contextWindows.${name}`, name, providerNames)),
  ];
}

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

function modelProblems(path: string, model: string | undefined, providerNames: readonly string[]): string[] {
  if (model === undefined) return [];
  const ref = parseModelRef(model);
  if (!ref) return [`${path}: use provider/model, got ${JSON.stringify(model.slice(0, 80))}`];
  const problem = providerNameProblem(ref.provider, providerNames);
  return problem ? [`${path}: ${problem}`] : [];
}

function duplicateTools(tools: readonly AnyToolDefinition[]): string[] {
  const names = tools.map(({ name }) => name);
  return [
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `tools: TOOL_NAME ${name} is there twice`),
    ...names.filter((name) => BUILT_IN_TOOLS.includes(name)).map((name) => `tools: TOOL_NAME ${name} is a built-in tool`),
  ];
}

function toolProblems(tool: AnyToolDefinition): string[] {
  const path = `tools.${tool.name}`;
  const problem = schemaProblem(tool);
  return [
    ...(isApproval(tool.approval) ? [] : [`${path}.approval: use "never", "always" or a function of the arguments`]),
    ...(problem ? [`${path}.parameters: ${problem}`] : []),
  ];
}

function isApproval(approval: unknown): boolean {
  return approval === 'never' || approval === 'always' || typeof approval === 'function';
}

function schemaProblem(tool: AnyToolDefinition): string | undefined {
  try {
    const schema = parametersSchema(tool);
    if (schema['type'] !== 'object') return 'an object schema is needed, such as z.strictObject({ … })';
    const bytes = Buffer.byteLength(JSON.stringify(schema));
    return bytes > TOOL_LIMITS.schemaBytesMax ? `a schema of ${bytes} bytes; at most ${TOOL_LIMITS.schemaBytesMax}` : undefined;
  } catch (error) {
    return `no JSON Schema can be made of it: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function artifactsProblems({ artifacts }: Config): string[] {
  const problem = artifacts?.endpoint && baseUrlProblem(artifacts.endpoint, artifacts);
  return problem ? [`artifacts.endpoint: ${problem}`] : [];
}

function providerProblems(name: string, provider: ProviderDefinition): string[] {
  const path = `providers.${name}`;
  const isReserved = KNOWN_PROVIDERS[name]?.api === 'scripted' || name === 'subprocess' || name === 'stub';
  const problem = 'baseUrl' in provider && provider.baseUrl !== undefined ? baseUrlProblem(provider.baseUrl, provider) : undefined;
  return [
    ...(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/u.test(name)
      ? []
      : [`${path}: a name of A-Z a-z 0-9 . _ -, for it stands before the slash of a model`]),
    ...(isReserved ? [`${path}: this name has a meaning of its own`] : []),
    ...(problem ? [`${path}.baseUrl: BAD_BASE_URL ${problem}`] : []),
  ];
}
