import { join } from 'node:path';
import { Writable } from 'node:stream';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Door } from '../../gateway/mcp/door.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import { openAuthKey } from '../../worker/state-folder/auth-key.js';
import { openStateFolder, resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { type Output, say } from '../display/output.js';
import { ensureBackground } from '../host/background.js';
import type { CliContext } from '../host/context.js';
import { type Opened, openMcpDoor } from '../host/doors/mcp-door.js';
import { loadConfigHere } from '../host/load-config.js';
import { serveWhile } from '../host/serve.js';
import { openPlace, type PlaceOptions } from '../host/workplace.js';
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
  const tell = (line: string): void => say(context.output, line);
  const serve = await openServer(options, context);
  const workspaces = await openWorkspaceRoot(options.workspace);
  // loading removes the keys, which the process in the background needs
  const env = { ...process.env };
  const config = await loadConfigHere();
  const opening = openHosting(options, { config, env, say: tell });
  const ready = new Deferred();
  const { approvals: decides, worker: hasWorker } = options;
  const door = openMcpDoor({ version, decides, config, workspaces, hasWorker, opening, ready: ready.promise });
  const stop = new AbortController();
  const serving = serve(door, AbortSignal.any([context.interrupts.signal, stop.signal]));
  // awaited below, once the Temporal server is there
  serving.catch(() => undefined);
  try {
    const { place, hosts } = await opening;
    try {
      const hosting = { place, config: hosts ? config : undefined, say: tell, terminated: context.interrupts.terminated };
      await serveWhile(hosting, async (working) => {
        void working.then(ready.resolve, () => undefined);
        await serving;
      });
    } finally {
      await place.close();
    }
  } finally {
    stop.abort();
    await serving.catch(() => undefined);
  }
  return 0;
}

/** A promise that is resolved from outside. */
class Deferred {
  resolve: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}

interface Hosting extends Opened {
  /** True if this process hosts a worker. */
  readonly hosts: boolean;
}

interface HostingOptions {
  readonly config: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

async function openHosting({ worker, port: _port, ...where }: McpOptions, { config, env, say: tell }: HostingOptions): Promise<Hosting> {
  const place = await openPlace(where, tell, config);
  const hosts = worker && (place.location.kind === 'embedded' || !(await place.hasWorker()));
  return {
    place,
    hosts,
    async keepRunning() {
      if (hosts) await ensureBackground(place.stateDir, where, env);
    },
  };
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

/** The stdout of this command. What other code of this process prints goes to stderr, so it cannot break the protocol. */
function ownStdout({ stdout }: Output): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      if (stdout.write(text) === false) process.stdout.once('drain', () => done());
      else done();
    },
  });
}
