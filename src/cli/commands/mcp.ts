import { join } from 'node:path';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Door } from '../../gateway/mcp/door.js';
import { openAuthKey } from '../../worker/state-folder/auth-key.js';
import { openStateFolder, resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { ownStdout, say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { openMcpDoor } from '../host/doors/mcp-door.js';
import { serveWhileOpening } from '../host/doors/serve-while-opening.js';
import { loadConfigHere } from '../host/load-config.js';
import type { PlaceOptions } from '../host/workplace.js';
import { loadOptional, type OptionalPackage } from '../options/load-optional.js';
import { checkPort } from '../options/number.js';
import { openWorkspaceRoot } from '../options/workspace-root.js';

/** The options of `mcp`. */
export interface McpOptions extends PlaceOptions {
  readonly workspace?: string;
  readonly http?: boolean;
  readonly port?: number | string;
  readonly host?: string;
  /** False with `--no-approvals`. */
  readonly approvals: boolean;
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/**
 * `mcp`: serves runs to MCP clients, over stdin and stdout until the input ends, or over HTTP until Ctrl-C. Hosts a worker as `run` does. A
 * client is answered at once; its calls wait for the Temporal server and the worker.
 */
export async function mcp(options: McpOptions, context: CliContext, version: string): Promise<number> {
  const serve = await openServer(options, context);
  const workspaces = await openWorkspaceRoot(options.workspace);
  // loading removes the keys, which the process in the background needs
  const env = { ...process.env };
  const config = await loadConfigHere();
  const { approvals: decides, worker: hasWorker } = options;
  await serveWhileOpening({ options, config, env, context }, async ({ opening, ready, signal }) => {
    await serve(openMcpDoor({ version, decides, config, workspaces, hasWorker, opening, ready }), signal);
  });
  return 0;
}

type Serve = (door: Door, signal: AbortSignal) => Promise<void>;

/** How the options say that clients are served. Throws `BAD_OPTION` (2), and `MCP_SDK` (2) without the SDK. */
async function openServer({ http, host, port }: McpOptions, { output }: CliContext): Promise<Serve> {
  const tell = (line: string): void => say(output, line);
  if (!http) {
    if (host !== undefined || port !== undefined) throw new PerdureError('BAD_OPTION', '--host and --port need --http', 2);
    const { serveStdio } = await loadOptional(SDK, () => import('../../gateway/mcp/serve-stdio.js'));
    return (door, signal) => serveStdio({ door, stdin: process.stdin, stdout: ownStdout(output), signal, say: tell });
  }
  const address = { host: host ?? '127.0.0.1', port: checkPort(port ?? GATEWAY_LIMITS.mcpPort) };
  const { serveHttp } = await loadOptional(SDK, () => import('../../gateway/mcp/serve-http.js'));
  const { dir } = await openStateFolder(resolveStateDir());
  const tokenFile = join(dir, 'gateway-token');
  const token = Buffer.from(await openAuthKey(tokenFile)).toString('hex');
  const onListening = (url: string): void => tell(`MCP server at ${url}, token in ${tokenFile}; Ctrl-C stops it`);
  return (door, signal) => serveHttp({ door, ...address, token, signal, onListening });
}

const SDK: OptionalPackage = { command: 'perdure mcp', name: '@modelcontextprotocol/sdk', code: 'MCP_SDK' };
