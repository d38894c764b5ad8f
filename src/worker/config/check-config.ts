import { isAbsolute } from 'node:path';
import { echoValue } from '../../contracts/text/echo-value.js';
import { DELEGATE_TOOL, HANDOFF_TOOL } from '../../contracts/text/ids.js';
import { AgentDefinition } from '../../define/define-agent.js';
import { Config } from '../../define/define-config.js';
import { KeyReference } from '../../define/worker/credentials.js';
import { baseUrlProblem } from '../../providers/http/base-url.js';
import { hasCredentials, redisUrlProblem } from '../../streams/redis-url.js';
import { BUILT_IN_TOOLS, WORKSPACE_TOOLS } from '../../tools/registry.js';
import { updatePlan } from '../../tools/update-plan.js';
import type { AgentFile } from './agent-files.js';
import { agentProblems } from './checks/check-agents.js';
import { channelProblems } from './checks/check-channels.js';
import { hookProblems } from './checks/check-hooks.js';
import { mcpServerProblems } from './checks/check-mcp-servers.js';
import { modelProblems } from './checks/check-models.js';
import { providerProblems } from './checks/check-providers.js';
import { toolProblems } from './checks/check-tools.js';
import { describeIssues } from './explain-issues.js';
import type { PluginFiles } from './load-plugins.js';
import { type ListedPlugin, type MergedConfig, mergePlugins, type PluginParts } from './merge-plugins.js';

/** What the files of `import` and of plugins add to a config. */
export interface ConfigAdditions {
  /** Of the files of `import`. Those of the config replace them by name. @default none */
  readonly instructions?: Readonly<Record<string, string>>;
  /** Problems of the entries of `import`. @default none */
  readonly problems?: readonly string[];
  /** The files of the plugins, in their order. @default none */
  readonly plugins?: readonly PluginFiles[];
}

/** A valid config, and what its plugins brought. */
export type CheckedConfig = Pick<MergedConfig, 'config' | 'plugins' | 'notices'>;

/** Validates the export of a configuration file together with the files beside it. Returns the config, or all problems, each with its path. */
export function checkConfig(
  given: unknown,
  agentFiles: readonly AgentFile[],
  { instructions = {}, problems: ofImports = [], plugins = [] }: ConfigAdditions = {},
): CheckedConfig | { problems: string[] } {
  const allFiles = [...agentFiles, ...plugins.flatMap(({ agents }) => agents)];
  const ofFiles = [
    ...allFiles.flatMap((file) => (file.problem ? [file.problem] : agentIssues(file))),
    ...ofImports,
    ...plugins.flatMap(({ problems }) => problems),
  ];
  const parsed = Config.safeParse(given);
  if (!parsed.success) return { problems: [...describeIssues(parsed.error.issues, given), ...ofFiles] };
  const problems = [...ofFiles, ...duplicates(agentFiles, parsed.data)];
  if (problems.length > 0) return { problems: [...problems, ...meaningProblems(parsed.data)] };
  const merged = mergePlugins(parsed.data, pluginParts(parsed.data, plugins), namesOf(agentFiles));
  if (merged.problems.length > 0) return { problems: [...merged.problems] };
  const config: Config = {
    ...merged.config,
    ...(agentFiles.length === 0 ? {} : { agents: { ...merged.config.agents, ...agentsOf(agentFiles) } }),
    ...(Object.keys(instructions).length === 0 ? {} : { instructions: { ...instructions, ...parsed.data.instructions } }),
  };
  const semanticProblems = meaningProblems(config).map((problem) => withPlugin(withPlace(problem, allFiles), problem, merged.plugins));
  return semanticProblems.length > 0 ? { problems: semanticProblems } : { config, plugins: merged.plugins, notices: merged.notices };
}

function namesOf(agentFiles: readonly AgentFile[]): string[] {
  return agentFiles.map(({ name }) => name);
}

function agentsOf(agentFiles: readonly AgentFile[]): Record<string, AgentDefinition> {
  return Object.fromEntries(agentFiles.map(({ name, agent }) => [name, AgentDefinition.parse(agent)]));
}

/** The plugins of a config with their files. A name that was not loaded cannot be checked: `loadConfig` loads it. */
function pluginParts({ plugins = [] }: Config, files: readonly PluginFiles[]): PluginParts[] {
  return plugins.flatMap((plugin, index) => {
    if (typeof plugin === 'string') return [];
    const { file, agents = [], skills } = files[index] ?? {};
    return {
      plugin,
      ...(file === undefined ? {} : { file }),
      agents: typeof plugin.agents === 'object' ? plugin.agents : agentsOf(agents),
      skills: skills?.names ?? [],
    };
  });
}

/** A problem with the plugin that brought what it is about. */
function withPlugin(shown: string, problem: string, plugins: readonly ListedPlugin[]): string {
  const { kind, name } = /^(?<kind>tools|agents|providers|mcpServers)\.(?<name>[^.:]+)/u.exec(problem)?.groups ?? {};
  const from = plugins.find((plugin) => name !== undefined && (plugin[kind as 'agents'] ?? []).includes(name));
  return from ? `plugin ${from.name}: ${shown}` : shown;
}

/** Agents of one name in two files, or in a file and the config. */
function duplicates(agentFiles: readonly AgentFile[], { agents = {} }: Config): string[] {
  return agentFiles.flatMap(({ name, file }, index) => {
    const other = agentFiles.slice(0, index).find((earlier) => earlier.name === name);
    return [
      ...(Object.hasOwn(agents, name) ? [`agents.${name}: also defined in ${file}`] : []),
      ...(other ? [`agents.${name}: defined in ${other.file} and in ${file}`] : []),
    ];
  });
}

/** The problems of an agent file with its schema, each with its line. */
function agentIssues({ name, agent, placeOf }: AgentFile): string[] {
  const { error } = AgentDefinition.safeParse(agent);
  return (error?.issues ?? []).flatMap((issue) => {
    const single = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue];
    return single.flatMap((each) => {
      const place = placeOf(each.code === 'unrecognized_keys' ? [...each.path, ...each.keys] : each.path);
      const issues = [{ ...each, path: ['agents', name, ...each.path] }];
      return describeIssues(issues, { agents: { [name]: agent } }).map((problem) => `${place}: ${problem}`);
    });
  });
}

/** A problem with the place of its option, if a file defines the agent: `agents.NAME.PATH: …`. */
function withPlace(problem: string, agentFiles: readonly AgentFile[]): string {
  const file = agentFiles.find(({ name }) => problem.startsWith(`agents.${name}:`) || problem.startsWith(`agents.${name}.`));
  if (!file) return problem;
  const path = problem.slice(`agents.${file.name}.`.length).split(':')[0]?.split('.') ?? [];
  const quoted = /"(?<value>[^"]+)"/u.exec(problem)?.groups?.['value'];
  return `${file.placeOf(path.map(asKey), quoted)}: ${problem}`;
}

function asKey(part: string): string | number {
  return /^\d+$/u.test(part) ? Number(part) : part;
}

/** Checks a config beyond its schema: duplicate names, unknown tools and providers, invalid addresses. */
function meaningProblems(config: Config): string[] {
  const { tools = [], agents = {}, hooks = [], mcpServers = {} } = config;
  const known = {
    names: [...tools.map(({ name }) => name), ...BUILT_IN_TOOLS, DELEGATE_TOOL, HANDOFF_TOOL],
    tools: [...tools, ...WORKSPACE_TOOLS, updatePlan],
    servers: Object.keys(mcpServers),
  };
  return [
    ...modelProblems(config),
    ...toolProblems(tools, BUILT_IN_TOOLS),
    ...Object.entries(agents).flatMap(([name, agent]) => agentProblems(name, agent, config, known)),
    ...mcpServerProblems(config),
    ...providerProblems(config),
    ...hookProblems(hooks, known),
    ...artifactsProblems(config),
    ...streamsProblems(config),
    ...channelProblems(config),
  ];
}

function artifactsProblems({ artifacts }: Config): string[] {
  if (artifacts && 'folder' in artifacts)
    return isAbsolute(artifacts.folder) ? [] : [`artifacts.folder: an absolute path is needed, got ${echoValue(artifacts.folder)}`];
  const problem = artifacts?.endpoint && baseUrlProblem(artifacts.endpoint, artifacts);
  return problem ? [`artifacts.endpoint: ${problem}`] : [];
}

/** A referenced address is checked when the worker starts. */
function streamsProblems({ streams }: Config): string[] {
  if (!streams || KeyReference.safeParse(streams.url).success) return [];
  const problem = hasCredentials(streams.url)
    ? 'it contains credentials; set the whole address by reference, such as "env:REDIS_URL"'
    : redisUrlProblem(streams.url, streams);
  return problem ? [`streams.url: ${problem}`] : [];
}
