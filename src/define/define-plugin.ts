import { z } from 'zod';
import { AgentDefinition } from './define-agent.js';
import { HookDefinition } from './define-hook.js';
import { Tool } from './define-tool.js';
import { ProviderDefinition } from './provider-definition.js';
import { McpServers } from './worker/mcp-servers.js';

/** A folder of a plugin, relative to its module. */
const Folder = z.string().min(1);

/** What a plugin adds to a config. An unknown field is an error. */
export const Plugin = z.strictObject({
  /** Name, for lists and error messages. Each plugin of a config has its own. */
  name: z.string().regex(/^[@A-Za-z0-9][A-Za-z0-9_.@/-]{0,99}$/u, 'letters, digits and . _ - / @, at most 100'),
  /**
   * Address of the plugin's module, `import.meta.url`, to which its folders are relative. @default the module that the config names, else the
   * folder of the config
   */
  from: z.union([z.string().startsWith('file:'), z.instanceof(URL)], 'import.meta.url').optional(),
  /** Tools, made with `defineTool`. @default none */
  tools: z.array(Tool).optional(),
  /** Agents by name, or a folder with an agent in each `NAME.md`. @default none */
  agents: z.union([Folder, z.record(z.string(), AgentDefinition)]).optional(),
  /** A folder with a skill in each `NAME/SKILL.md`. @default none */
  skills: Folder.optional(),
  /** Hooks, made with `defineHook`. Those of plugins run before those of the config with the same priority. @default none */
  hooks: z.array(HookDefinition).optional(),
  /** Providers by name. @default none */
  providers: z.record(z.string(), ProviderDefinition).optional(),
  /** MCP servers by name. @default none */
  mcpServers: McpServers.optional(),
});
export type Plugin = z.infer<typeof Plugin>;

/** Returns its argument, typed. The definition is validated with the whole config, so that all problems are reported at once. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin;
}
