import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Config } from '../../define/define-config.js';
import { isToolDefinition } from '../../define/define-tool.js';
import { keysOfConfig } from '../../providers/access/key-references.js';
import { captureKeys } from '../../providers/access/key-ring.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import { type AgentFile, readAgentFiles } from './agent-files.js';
import { type ConfigAdditions, checkConfig } from './check-config.js';
import { skillProblems } from './checks/check-skills.js';
import { configHash } from './config-hash.js';
import { readImportedFiles } from './imported-files.js';
import { loadPlugins, type PluginFiles, type PluginPlace, pluginPaths } from './load-plugins.js';
import type { ListedPlugin } from './merge-plugins.js';
import { readConfigFile } from './read-config-file.js';

/** A validated configuration with its keys. */
export interface LoadedConfig {
  readonly config: Config;
  /** The config file. Undefined if there is none and the defaults apply. */
  readonly file: string | undefined;
  /** The config file, the agent files, also missing ones, and the folder of artifacts, which no tool of a workspace can change: absolute paths, and `FOLDER/*.md`. */
  readonly protected?: readonly string[];
  /** The folder of the config, which may have skills. Undefined for a config without a folder. */
  readonly folder?: string;
  /** The files of agents that are not in the config file, by the names of the agents. */
  readonly agentFiles?: Readonly<Record<string, string>>;
  /** The plugins of the config, with what each of them brings. */
  readonly plugins?: readonly ListedPlugin[];
  /** The folders of skills that plugins have, by the names of the plugins. */
  readonly pluginSkills?: readonly PluginSkills[];
  /** What was left out of imported files, and what of plugins is replaced, one line each. */
  readonly notices?: readonly string[];
  readonly keys: KeyRing;
  /** The environment without the keys: addresses of providers and the default model come from it. */
  readonly env: NodeJS.ProcessEnv;
  /** Hash of the configuration, the code of its tools, the keys and the relevant environment variables. Equal hashes mean equal behaviour, but for skills, which each run reads. */
  readonly hash: string;
}

/** The folder of a plugin's skills. */
export interface PluginSkills {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
}

/** Options of `loadConfig`. */
export interface LoadConfigOptions {
  /** The folder of `perdure.config.*` and `agents/`. */
  readonly cwd: string;
  /** The config file. @default `perdure.config.*` of `cwd` */
  readonly configFile?: string;
  /**
   * The environment of the providers: their keys, which are removed from it, their addresses, and `PERDURE_MODEL`. With `{}`, no key and no
   * address of your shell is used, such as in tests. Tools read the environment of the process. @default process.env
   */
  readonly env?: NodeJS.ProcessEnv;
}

const FILES = ['perdure.config.ts', 'perdure.config.mjs', 'perdure.config.js', 'perdure.config.json'];

/**
 * Loads `perdure.config.*`, its plugins, the agents of `agents/NAME.md` and the files of `import`, validates them, and removes the provider
 * keys from the environment.
 * Without a file, the defaults apply. Throws PerdureError `CONFIG` (2) with all problems, each with its path.
 */
export async function loadConfig({ cwd, configFile, env = process.env }: LoadConfigOptions): Promise<LoadedConfig> {
  const file = findFile(cwd, configFile);
  const [written, ownFiles] = await Promise.all([file === undefined ? {} : readConfigFile(file, env), readAgentFiles(cwd)]);
  const where = file ?? cwd;
  const folder = file === undefined ? cwd : dirname(file);
  const { given, plugins } = await loadPlugins(written, { folder, env, where });
  const imported = await readImportedFiles(folder, importsOf(given), toolNamesOf(given));
  const agentFiles = [...ownFiles, ...imported.agents];
  const loaded = completeConfig(given, { where, env, agentFiles, additions: { ...imported, plugins } });
  const pluginSkills = skillsOf(loaded, plugins);
  const problems = await skillProblems(loaded.config, { worker: cwd, plugins: pluginSkills });
  if (problems.length > 0) throw new PerdureError('CONFIG', `${where}: ${problems.join('; ')}`, 2);
  const own = await protectedPaths(cwd, file, loaded.config);
  return {
    ...loaded,
    file,
    protected: [...new Set([...own, ...imported.paths, ...(await pluginPaths(plugins))])],
    folder: cwd,
    agentFiles: Object.fromEntries(agentFiles.map((agent) => [agent.name, agent.file])),
    pluginSkills,
    notices: [...loaded.notices, ...agentFiles.flatMap((agent) => (agent.notices ?? []).map((notice) => `${agent.file}: ${notice}`))],
  };
}

/** Validates a config that is an object, with its plugins. Throws as `loadConfig` does. */
export async function completePlugins(
  config: Config,
  place: PluginPlace & { readonly env: NodeJS.ProcessEnv },
): Promise<CompletedConfig & Required<Pick<LoadedConfig, 'pluginSkills'>>> {
  const { given, plugins } = await loadPlugins(config, place);
  const loaded = completeConfig(given, { where: place.where, env: place.env, additions: { plugins } });
  return { ...loaded, pluginSkills: skillsOf(loaded, plugins) };
}

/** The skills of plugins, by the names of the plugins. */
function skillsOf(loaded: CompletedConfig, plugins: readonly PluginFiles[]): PluginSkills[] {
  return plugins.flatMap(({ skills }, index) => {
    const name = loaded.plugins[index]?.name;
    return skills && name !== undefined ? [{ name, folder: skills.folder }] : [];
  });
}

/** The entries of `import`. The schema reports anything else. */
function importsOf(given: unknown): string[] {
  const entries: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'import') : undefined;
  return Array.isArray(entries) ? entries.filter((entry) => typeof entry === 'string' && entry !== '') : [];
}

/** The tools of a config and its plugins. */
function toolNamesOf(given: unknown): string[] {
  const [tools, plugins] = ['tools', 'plugins'].map((field) => listIn(given, field));
  const all = [...(tools ?? []), ...(plugins ?? []).flatMap((plugin) => listIn(plugin, 'tools'))];
  return all.flatMap((tool) => (isToolDefinition(tool) ? [tool.name] : []));
}

function listIn(given: unknown, field: string): readonly unknown[] {
  const list: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, field) : undefined;
  return Array.isArray(list) ? list : [];
}

/** Where a config is from, and what belongs to it. */
interface ConfigOrigin {
  /** Named in errors: a path. */
  readonly where: string;
  readonly env: NodeJS.ProcessEnv;
  readonly agentFiles?: readonly AgentFile[];
  readonly additions?: ConfigAdditions;
}

/** What a config alone gives a worker: without the files beside it. */
export type CompletedConfig = Pick<LoadedConfig, 'config' | 'keys' | 'env' | 'hash'> & Required<Pick<LoadedConfig, 'plugins' | 'notices'>>;

/** Validates a config and removes its keys from `env`. Throws as `loadConfig` does. */
export function completeConfig(given: unknown, { where, env, agentFiles = [], additions }: ConfigOrigin): CompletedConfig {
  const checked = checkConfig(given, agentFiles, additions);
  if ('problems' in checked) throw new PerdureError('CONFIG', `${where}: ${checked.problems.join('; ')}`, 2);
  const { config, plugins, notices } = checked;
  const keys = captureKeys(env, keysOfConfig(config));
  return { config, keys, env, hash: configHash({ config, keys, env }), plugins, notices };
}

async function protectedPaths(cwd: string, file: string | undefined, { artifacts }: Config): Promise<string[]> {
  const folder = await realpath(cwd);
  const own = file === undefined ? [] : [await realpath(file)];
  // commands see no artifacts of other runs
  const stored = artifacts && 'folder' in artifacts ? [await realpath(artifacts.folder).catch(() => artifacts.folder)] : [];
  return [...new Set([...FILES.map((name) => join(folder, name)), ...own, join(folder, 'agents', '*.md'), ...stored])];
}

function findFile(cwd: string, configFile: string | undefined): string | undefined {
  const names = configFile === undefined ? FILES : [configFile];
  const file = names.map((name) => resolve(cwd, name)).find((path) => existsSync(path));
  if (configFile !== undefined && file === undefined) throw new PerdureError('CONFIG', `${resolve(cwd, configFile)}: no such file`, 2);
  return file;
}
