import type { Effect } from '../../contracts/schemas/tool.js';
import type { AnyToolDefinition } from '../../define/define-tool.js';
import { createMemoryTools } from '../../tools/memory/memory-tools.js';
import { BUILT_IN_TOOLS, createListedTools, WORKSPACE_TOOLS } from '../../tools/registry.js';
import { updatePlan } from '../../tools/update-plan.js';
import { backgroundCommands } from '../hosting/background-commands.js';
import { resolveStateDir } from '../state-folder/state-folder.js';
import type { LoadedConfig } from './load-config.js';

export { BUILT_IN_TOOLS };

/** A tool that runs of a config may be offered. */
export interface ListedTool {
  readonly name: string;
  readonly effect: Effect;
  readonly description: string;
  /** The config file, `plugin NAME`, or `built-in`. */
  readonly definedIn: string;
}

/** Lists the tools of a config, those of its plugins, and the built-in ones that need no run. */
export function listTools({ config, file, plugins = [] }: Pick<LoadedConfig, 'config' | 'file' | 'plugins'>): ListedTool[] {
  const own = (config.tools ?? []).map((tool) => {
    const plugin = plugins.find(({ tools }) => tools.includes(tool.name));
    return listed(tool, plugin ? `plugin ${plugin.name}` : (file ?? 'config'));
  });
  const onRequest = createListedTools({ protected: [], sandbox: {}, fetch: {}, background: backgroundCommands(resolveStateDir()) }).map(
    ({ tool }) => tool,
  );
  const builtIn = [...WORKSPACE_TOOLS, ...onRequest, ...createMemoryTools({}), updatePlan];
  return [...own, ...builtIn.map((tool) => listed(tool, 'built-in'))];
}

function listed({ name, effect, description }: AnyToolDefinition, definedIn: string): ListedTool {
  return { name, effect, description, definedIn };
}
