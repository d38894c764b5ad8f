import { dirname, resolve } from 'node:path';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { Config } from '../../define/define-config.js';
import type { AnyToolDefinition } from '../../define/define-tool.js';
import { completeConfig, completePlugins, type LoadedConfig, loadConfig } from '../../worker/config/load-config.js';

/** The parts of a test that make its config. */
export interface TestedConfigOptions {
  /** A config, or the path of `perdure.config.*` from the current folder, with the agents beside it. @default an empty config */
  readonly config?: Config | string;
  /** The agent under test: the name of an agent of the config, or a definition. @default the agent `default` */
  readonly agent?: string | AgentDefinition;
  /** Tools that are added to those of the config. One with the name of a tool of the config replaces it. @default none */
  readonly tools?: readonly AnyToolDefinition[];
  /**
   * The environment of the config: keys and addresses of providers. Nothing of it is needed, and nothing of your shell is used.
   * @default {}
   */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
}

const TESTED_AGENT = 'tested';

/** The config of a test that plays `model`, and the name of its agent. Throws PerdureError `CONFIG` (2). */
export async function testedConfig(options: TestedConfigOptions, model: string): Promise<{ config: LoadedConfig; agent?: string }> {
  const { config = {}, agent, tools = [] } = options;
  // keys are removed from the environment that is loaded
  const env = { ...options.env };
  const base = typeof config === 'string' ? await loadConfig({ ...fileOf(config), env }) : await configOf(config, env);
  const given = base.config;
  const kept = (given.tools ?? []).filter(({ name }) => !tools.some((tool) => tool.name === name));
  const tested: Config = {
    ...given,
    tools: [...kept, ...tools],
    // a script outside the current folder is a model only where the config names it
    models: { ...given.models, [model]: {} },
    ...(typeof agent === 'object' ? { agents: { ...given.agents, [TESTED_AGENT]: agent } } : {}),
  };
  const name = typeof agent === 'object' ? TESTED_AGENT : agent;
  const { plugins: _, ...completed } = completeConfig(tested, { where: base.file ?? 'config', env });
  return {
    config: { ...base, ...completed },
    ...(name === undefined ? {} : { agent: name }),
  };
}

/** A config that is an object, with what its plugins bring. Names of plugins are looked up from the current folder. */
async function configOf(given: Config, env: NodeJS.ProcessEnv): Promise<LoadedConfig> {
  const { config, ...loaded } = await completePlugins(given, { folder: process.cwd(), env, where: 'config' });
  return { ...loaded, config, file: undefined };
}

function fileOf(path: string): { cwd: string; configFile: string } {
  const configFile = resolve(path);
  return { cwd: dirname(configFile), configFile };
}
