import type { ListedTool } from '../../../worker/config/list-tools.js';
import { formatTable, placeOf } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import type { CliContext } from '../../host/context.js';
import { loadConfigHere } from '../../host/load-config.js';

/** The options of `tool list`. */
export interface ToolListOptions {
  readonly json?: boolean;
}

/** `tool list`: lists the tools of the config, of its plugins, and the built-in ones. Starts no MCP server. */
export async function toolList(options: ToolListOptions, { output }: CliContext): Promise<number> {
  const config = await loadConfigHere();
  const { listTools } = await import('../../../worker/config/list-tools.js');
  const tools = listTools(config);
  const servers = Object.keys(config.config.mcpServers ?? {});
  const { notices = [] } = config;
  if (options.json) printJson(output, { tools, mcpServers: servers, notices });
  else {
    printText(output, formatTools(tools, process.cwd()));
    if (servers.length > 0) say(output, `notice: MCP servers have tools too: ${servers.join(', ')}. 'perdure agents NAME' lists them.`);
    for (const notice of notices) say(output, `notice: ${notice}`);
  }
  return 0;
}

/** A table of tools. Pure. */
export function formatTools(tools: readonly ListedTool[], cwd: string): string {
  const rows = tools.map(({ name, effect, definedIn, description }) => [name, effect, placeOf(definedIn, cwd), description]);
  return formatTable(['TOOL', 'EFFECT', 'DEFINED IN', 'DESCRIPTION'], rows);
}
