import { realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PerdureError } from '../../contracts/perdure-error.js';
import { findSkills } from '../../tools/skills/find-skills.js';
import { type AgentFile, readOwnAgents } from './agent-files.js';
import { describeImportError, moduleLoader } from './module-loader.js';

/** The files of one entry of `plugins`. */
export interface PluginFiles {
  /** The module that exports the plugin. Undefined for a plugin that is an object of the config without `from`. */
  readonly file?: string;
  readonly agents: readonly AgentFile[];
  /** Its folder of skills, with their names. */
  readonly skills?: { readonly folder: string; readonly names: readonly string[] };
  /** Problems of its folders, each with its path in the config. */
  readonly problems: readonly string[];
}

/** A config with its plugins as objects, and the files of each. */
export interface LoadedPlugins {
  readonly given: unknown;
  readonly plugins: readonly PluginFiles[];
}

/** Where the names and paths of `plugins` are looked up. */
export interface PluginPlace {
  /** The folder of the config. */
  readonly folder: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Named in errors. */
  readonly where: string;
}

/**
 * Loads the plugins that a config names, and reads the folders of all of them. Throws PerdureError `CONFIG` (2) with every plugin that
 * cannot be loaded: without one of them, nothing else of the config can be judged.
 */
export async function loadPlugins(given: unknown, place: PluginPlace): Promise<LoadedPlugins> {
  const entries: unknown = fieldOf(given, 'plugins');
  if (!Array.isArray(entries) || entries.length === 0) return { given, plugins: [] };
  const found = await Promise.all(entries.map((entry, index) => loadEntry(entry, `plugins.${index}`, place)));
  const problems = found.flatMap((each) => ('problem' in each ? [each.problem] : []));
  if (problems.length > 0) throw new PerdureError('CONFIG', `${place.where}: ${problems.join('; ')}`, 2);
  const loaded = found.flatMap((each) => ('problem' in each ? [] : [each]));
  const plugins = await Promise.all(loaded.map((each, index) => readFolders(each, `plugins.${index}`, place)));
  return { given: { ...(given as object), plugins: loaded.map(({ plugin }) => plugin) }, plugins };
}

/** A plugin, not validated. */
interface Loaded {
  readonly plugin: unknown;
  readonly file?: string;
}

async function loadEntry(entry: unknown, path: string, { folder, env }: PluginPlace): Promise<Loaded | { readonly problem: string }> {
  if (typeof entry !== 'string' || entry === '') return { plugin: entry };
  const loader = await moduleLoader(env);
  const address = loader.esmResolve(entry, { parentURL: pathToFileURL(join(folder, 'perdure.config.js')), try: true });
  if (address === undefined) return { problem: `${path}: ${notFound(entry, folder)}` };
  const file = address.startsWith('file:') ? fileURLToPath(address) : address;
  try {
    const exported: unknown = await loader.import(file);
    const plugin = fieldOf(exported, 'default') ?? exported;
    if (typeof fieldOf(plugin, 'name') === 'string' && typeof plugin === 'object') return { plugin, file };
    return { problem: `${path}: "${entry}" does not export a plugin. Use export default definePlugin({ name, … }) in ${file}.` };
  } catch (error) {
    return { problem: `${path}: "${entry}" cannot be loaded: ${describeImportError(file, error)}` };
  }
}

function notFound(entry: string, folder: string): string {
  if (/^(?:\.{0,2}\/|file:)/u.test(entry)) return `there is no module at "${entry}" (from ${folder})`;
  return `the package "${entry}" was not found from ${folder}. Install it with 'npm install ${entry}'.`;
}

/** A folder that a plugin names is part of it, so an empty one is a mistake. */
async function readFolders({ plugin, file }: Loaded, path: string, { folder }: PluginPlace): Promise<PluginFiles> {
  const module = moduleOf(plugin) ?? file;
  const base = module === undefined ? folder : dirname(await realpath(module).catch(() => module));
  const [agents, skills] = await Promise.all([
    readPart(fieldOf(plugin, 'agents'), (name) => readAgents(resolve(base, name), `${path}.agents: ${name}`)),
    readPart(fieldOf(plugin, 'skills'), (name) => readSkills(resolve(base, name), `${path}.skills: ${name}`)),
  ]);
  return {
    ...(module === undefined ? {} : { file: module }),
    agents: agents?.agents ?? [],
    ...(skills?.skills ? { skills: skills.skills } : {}),
    problems: [...(agents?.problems ?? []), ...(skills?.problems ?? [])],
  };
}

async function readPart<Part>(named: unknown, read: (name: string) => Promise<Part>): Promise<Part | undefined> {
  return typeof named === 'string' && named !== '' ? await read(named) : undefined;
}

async function readAgents(folder: string, path: string): Promise<Pick<PluginFiles, 'agents' | 'problems'>> {
  const agents = await readOwnAgents(folder);
  const problems = agents.length > 0 ? [] : [`${path}: no agents in ${folder}: Markdown files that begin with front matter are needed`];
  return { agents, problems };
}

async function readSkills(folder: string, path: string): Promise<Pick<PluginFiles, 'skills' | 'problems'>> {
  const { skills, problems } = await findSkills({ plugins: [{ name: 'plugin', folder }] });
  if (problems.length > 0) return { problems: problems.map((problem) => `${path}: ${problem}`) };
  if (skills.length === 0) return { problems: [`${path}: no skills in ${folder}: folders with a SKILL.md are needed`] };
  return { skills: { folder, names: skills.map(({ name }) => name) }, problems: [] };
}

/** The path of a plugin's `from`. Undefined without a valid one: the schema reports it. */
function moduleOf(plugin: unknown): string | undefined {
  const from = fieldOf(plugin, 'from');
  if (!(from instanceof URL) && typeof from !== 'string') return undefined;
  try {
    return fileURLToPath(from);
  } catch (error) {
    // any other address is no module of this machine
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Paths that no tool can change, because they decide what the worker runs: the modules of plugins, and their agents. */
export async function pluginPaths(plugins: readonly PluginFiles[]): Promise<string[]> {
  const paths = plugins.flatMap(({ file, agents }) => [
    ...(file === undefined ? [] : [file]),
    ...agents.map((agent) => `${dirname(agent.file)}${sep}*.md`),
  ]);
  const real = paths.map(async (path) => await realpath(path).catch(() => path));
  return [...new Set([...paths, ...(await Promise.all(real))])];
}
