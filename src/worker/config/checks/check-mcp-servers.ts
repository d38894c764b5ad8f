import type { Config } from '../../../define/define-config.js';
import { KeyReference } from '../../../define/worker/credentials.js';
import type { McpAddress, McpProcess } from '../../../define/worker/mcp-servers.js';
import { baseUrlProblem } from '../../../providers/http/base-url.js';
import { BUILT_IN_TOOLS } from '../../../tools/registry.js';
import { isOfServer } from './check-tools.js';

/** Checks MCP servers beyond their schema: addresses, references, names that other tools have. Returns each problem with its path. */
export function mcpServerProblems({ mcpServers = {}, tools = [], sandbox }: Config): string[] {
  const names = [...tools.map(({ name }) => name), ...BUILT_IN_TOOLS];
  return Object.entries(mcpServers).flatMap(([name, server]) => {
    const path = `mcpServers.${name}`;
    const taken = names.filter((tool) => isOfServer(tool, [name]));
    return [
      ...taken.map((tool) => `${path}: TOOL_NAME the tool "${tool}" begins as the tools of this server do; rename the server`),
      ...('url' in server ? addressProblems(path, server) : processProblems(path, server, sandbox)),
    ];
  });
}

function addressProblems(path: string, { url, allowInsecure, headers = {}, token }: McpAddress): string[] {
  const problem = baseUrlProblem(url, { allowInsecure });
  const isReference = token === undefined || KeyReference.safeParse(token).success;
  return [
    ...(problem ? [`${path}.url: BAD_BASE_URL ${problem}`] : []),
    ...(isReference ? [] : [`${path}.token: use a reference such as "env:NAME" or "file:/path"; a config contains no key`]),
    ...brokenReferences(`${path}.headers`, headers),
  ];
}

function processProblems(path: string, { env = {}, workspace, cwd, sandbox: own }: McpProcess, sandbox: Config['sandbox']): string[] {
  return [
    ...(workspace && cwd !== undefined ? [`${path}.cwd: not used with workspace, which is its folder; remove one`] : []),
    ...((own ?? sandbox)?.mode === 'container'
      ? [`${path}.sandbox: a container has no input for a server; set another mode, or let its command run the container`]
      : []),
    ...brokenReferences(`${path}.env`, env),
  ];
}

function brokenReferences(path: string, values: Readonly<Record<string, string>>): string[] {
  const broken = Object.entries(values).filter(([, value]) => value.startsWith('env:') && !KeyReference.safeParse(value).success);
  return broken.map(([name]) => `${path}.${name}: use a value, or a reference such as "env:NAME" or "file:/path"`);
}
