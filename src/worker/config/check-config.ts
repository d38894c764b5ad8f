import { isAbsolute } from 'node:path';
import { echoValue } from '../../contracts/text/echo-value.js';
import { KeyReference } from '../../define/credentials.js';
import { AgentDefinition } from '../../define/define-agent.js';
import { Config } from '../../define/define-config.js';
import { baseUrlProblem } from '../../providers/http/base-url.js';
import { hasCredentials, redisUrlProblem } from '../../streams/redis-url.js';
import { BUILT_IN_TOOLS, WORKSPACE_TOOLS } from '../../tools/registry.js';
import { updatePlan } from '../../tools/update-plan.js';
import type { AgentFile } from './agent-files.js';
import { agentProblems } from './check-agents.js';
import { hookProblems } from './check-hooks.js';
import { modelProblems } from './check-models.js';
import { providerProblems } from './check-providers.js';
import { toolProblems } from './check-tools.js';
import { describeIssues } from './explain-issues.js';

/** Validates the export of a configuration file together with the agent files. Returns the config, or all problems, each with its path. */
export function checkConfig(given: unknown, agentFiles: readonly AgentFile[]): { config: Config } | { problems: string[] } {
  const ofFiles = agentFiles.flatMap(({ name, file, agent, problem }) => (problem ? [`${file}: ${problem}`] : agentIssues(name, agent)));
  const parsed = Config.safeParse(given);
  if (!parsed.success) return { problems: [...describeIssues(parsed.error.issues, given), ...ofFiles] };
  const duplicates = agentFiles.filter(({ name }) => Object.hasOwn(parsed.data.agents ?? {}, name));
  const problems = [...ofFiles, ...duplicates.map(({ name, file }) => `agents.${name}: also defined in ${file}`)];
  if (problems.length > 0) return { problems: [...problems, ...meaningProblems(parsed.data)] };
  const agents = {
    ...parsed.data.agents,
    ...Object.fromEntries(agentFiles.map(({ name, agent }) => [name, AgentDefinition.parse(agent)])),
  };
  const config = agentFiles.length === 0 ? parsed.data : { ...parsed.data, agents };
  const semanticProblems = meaningProblems(config);
  return semanticProblems.length > 0 ? { problems: semanticProblems } : { config };
}

function agentIssues(name: string, agent: unknown): string[] {
  const { error } = AgentDefinition.safeParse(agent);
  const issues = (error?.issues ?? []).map((issue) => ({ ...issue, path: ['agents', name, ...issue.path] }));
  return describeIssues(issues, { agents: { [name]: agent } });
}

/** Checks a config beyond its schema: duplicate names, unknown tools and providers, invalid addresses. */
function meaningProblems(config: Config): string[] {
  const { tools = [], agents = {}, hooks = [] } = config;
  const known = { names: [...tools.map(({ name }) => name), ...BUILT_IN_TOOLS], tools: [...tools, ...WORKSPACE_TOOLS, updatePlan] };
  return [
    ...modelProblems(config),
    ...toolProblems(tools, BUILT_IN_TOOLS),
    ...Object.entries(agents).flatMap(([name, agent]) => agentProblems(name, agent, config, known)),
    ...providerProblems(config),
    ...hookProblems(hooks, known),
    ...artifactsProblems(config),
    ...streamsProblems(config),
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
