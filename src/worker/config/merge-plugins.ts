import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import type { Plugin } from '../../define/define-plugin.js';

/** A plugin of a config, with what it brings. Names that the config replaces are left out. */
export interface ListedPlugin {
  readonly name: string;
  /** Its module; undefined for an object of the config file. */
  readonly file?: string;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly hooks: readonly string[];
  readonly providers: readonly string[];
  readonly mcpServers: readonly string[];
}

/** A validated plugin with what its folders contain. */
export interface PluginParts {
  readonly plugin: Plugin;
  readonly file?: string;
  /** Those of its folder, or of its field `agents`. */
  readonly agents: Readonly<Record<string, AgentDefinition>>;
  readonly skills: readonly string[];
}

/** A config that contains what its plugins bring. */
export interface MergedConfig {
  /** Without `plugins`. */
  readonly config: Config;
  readonly plugins: readonly ListedPlugin[];
  /** Two plugins with the same name, or with definitions of the same name. */
  readonly problems: readonly string[];
  /** What the config replaces, one line each. */
  readonly notices: readonly string[];
}

/** The fields of a plugin that are merged by name. */
const KINDS = ['tools', 'agents', 'skills', 'providers', 'mcpServers'] as const;
type Kind = (typeof KINDS)[number];

/** What an error calls one of them. */
const WORDS: Readonly<Record<Kind, string>> = {
  tools: 'tools: TOOL_NAME',
  agents: 'agents:',
  skills: 'skills:',
  providers: 'providers:',
  mcpServers: 'mcpServers:',
};

/**
 * Adds what plugins bring to a config. A definition of the config, or of a file beside it, replaces one of a plugin with the same name. Two
 * plugins may not define the same name. `own` are the names of agents in files. Pure.
 */
export function mergePlugins(given: Config, parts: readonly PluginParts[], own: readonly string[]): MergedConfig {
  const { plugins: _, ...config } = given;
  if (parts.length === 0) return { config, plugins: [], problems: [], notices: [] };
  const taken = namesOf(config, own);
  const kept = <Value>(kind: Kind, values: Readonly<Record<string, Value>> = {}): Record<string, Value> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !taken[kind].includes(name)));
  const tools = parts.flatMap(({ plugin }) => (plugin.tools ?? []).filter(({ name }) => !taken.tools.includes(name)));
  const hooks = parts.flatMap(({ plugin }) => plugin.hooks ?? []);
  const agents = parts.map((part) => kept('agents', part.agents));
  const providers = parts.map(({ plugin }) => kept('providers', plugin.providers));
  const servers = parts.map(({ plugin }) => kept('mcpServers', plugin.mcpServers));
  return {
    config: {
      ...config,
      ...(tools.length > 0 ? { tools: [...tools, ...(config.tools ?? [])] } : {}),
      ...(hooks.length > 0 ? { hooks: [...hooks, ...(config.hooks ?? [])] } : {}),
      ...(hasNames(agents) ? { agents: Object.assign({}, ...agents, config.agents) } : {}),
      ...(hasNames(providers) ? { providers: Object.assign({}, ...providers, config.providers) } : {}),
      ...(hasNames(servers) ? { mcpServers: Object.assign({}, ...servers, config.mcpServers) } : {}),
    },
    plugins: parts.map((part) => listed(part, taken)),
    problems: [...repeatedPlugins(parts), ...conflicts(parts)],
    notices: parts.flatMap((part) => replacedNotices(part, taken)),
  };
}

function hasNames(values: readonly object[]): boolean {
  return values.some((value) => Object.keys(value).length > 0);
}

type Names = Readonly<Record<Kind, readonly string[]>>;

/** The names that the config defines itself. A skill of the worker's folder is found before those of plugins. */
function namesOf({ tools = [], agents = {}, providers = {}, mcpServers = {} }: Config, own: readonly string[]): Names {
  return {
    tools: tools.map(({ name }) => name),
    agents: [...Object.keys(agents), ...own],
    skills: [],
    providers: Object.keys(providers),
    mcpServers: Object.keys(mcpServers),
  };
}

function broughtBy({ plugin, agents, skills }: PluginParts): Names {
  const { tools = [], providers = {}, mcpServers = {} } = plugin;
  return {
    tools: tools.map(({ name }) => name),
    agents: Object.keys(agents),
    skills,
    providers: Object.keys(providers),
    mcpServers: Object.keys(mcpServers),
  };
}

function listed(part: PluginParts, taken: Names): ListedPlugin {
  const names = broughtBy(part);
  const left = (kind: Kind): string[] => names[kind].filter((name) => !taken[kind].includes(name));
  return {
    name: part.plugin.name,
    ...(part.file === undefined ? {} : { file: part.file }),
    tools: left('tools'),
    agents: left('agents'),
    skills: left('skills'),
    hooks: (part.plugin.hooks ?? []).map(({ name }) => name),
    providers: left('providers'),
    mcpServers: left('mcpServers'),
  };
}

function repeatedPlugins(parts: readonly PluginParts[]): string[] {
  const names = parts.map(({ plugin }) => plugin.name);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [`plugins.${index}: a plugin named "${name}" is already listed`] : [],
  );
}

function conflicts(parts: readonly PluginParts[]): string[] {
  return parts.flatMap((part, index) => {
    const names = broughtBy(part);
    return KINDS.flatMap((kind) =>
      names[kind].flatMap((name) => {
        const other = parts.slice(0, index).find((earlier) => broughtBy(earlier)[kind].includes(name));
        if (!other || other.plugin.name === part.plugin.name) return [];
        return [`${WORDS[kind]} "${name}" is defined by the plugins "${other.plugin.name}" and "${part.plugin.name}"`];
      }),
    );
  });
}

function replacedNotices(part: PluginParts, taken: Names): string[] {
  const names = broughtBy(part);
  return KINDS.flatMap((kind) =>
    names[kind]
      .filter((name) => taken[kind].includes(name))
      .map((name) => `plugin ${part.plugin.name}: ${kind}.${name} is replaced by the config's own`),
  );
}
