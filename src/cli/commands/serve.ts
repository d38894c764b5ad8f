import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenFunction } from '../../contracts/access/token-grant.js';
import { HTTP_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { readOrigin } from '../../contracts/text/origin.js';
import type { GatewayOptions } from '../../gateway/http/serve-gateway.js';
import { openAuthKey } from '../../worker/state-folder/auth-key.js';
import { openStateFolder, resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { openChannelDoors } from '../host/doors/channel-doors.js';
import { openGatewayDoor } from '../host/doors/gateway-door.js';
import { loadConfigHere } from '../host/load-config.js';
import { serveWhile } from '../host/serve.js';
import { openPlace, type PlaceOptions } from '../host/workplace.js';
import { loadOptional } from '../options/load-optional.js';
import { checkPort } from '../options/number.js';
import { openWorkspaceRoot } from '../options/workspace-root.js';

/** The options of `serve`. */
export interface ServeOptions extends PlaceOptions {
  readonly host?: string;
  readonly port?: number | string;
  /** File of tokens. */
  readonly tokens?: string;
  readonly workspace?: string;
  readonly publicOrigin?: string;
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/** `serve`: serves runs over HTTP until Ctrl-C or SIGTERM. Hosts a worker as `run` does. Open runs are kept. */
export async function serve(options: ServeOptions, context: CliContext, version: string): Promise<number> {
  const { host = '127.0.0.1', port: givenPort, tokens, workspace, worker, publicOrigin: givenOrigin, ...where } = options;
  const tell = (line: string): void => say(context.output, line);
  const port = checkPort(givenPort ?? HTTP_LIMITS.portDefault);
  const origin = givenOrigin === undefined ? undefined : checkOrigin(givenOrigin);
  const { serveGateway } = await loadOptional(FRAMEWORK, () => import('../../gateway/http/serve-gateway.js'));
  const workspaces = await openWorkspaceRoot(workspace);
  const config = await loadConfigHere();
  const { gateway } = config.config;
  const { access, hint } = await openAccess(tokens, gateway?.tokens);
  const publicOrigin = origin ?? (gateway?.publicOrigin === undefined ? undefined : readOrigin(gateway.publicOrigin));
  const place = await openPlace(where, tell, config);
  const channels = openChannelDoors({ config, place, say: tell });
  try {
    const { interrupts } = context;
    const hosting = { place, config: worker ? config : undefined, say: tell, terminated: interrupts.terminated, graceMs: GRACE_MS };
    await serveWhile(hosting, async (ready) => {
      await serveGateway({
        door: openGatewayDoor({ version, config, workspaces, place, hasWorker: worker, ready }),
        host,
        port,
        access,
        requestsPerMinute: gateway?.requestsPerMinute ?? HTTP_LIMITS.requestsPerMinuteDefault,
        streamsMax: gateway?.streamsMax ?? HTTP_LIMITS.streamsMaxDefault,
        ...(publicOrigin === undefined ? {} : { publicOrigin }),
        webhooks: channels.webhooks,
        signal: interrupts.signal,
        onListening: (url) => tell(`gateway at ${url}, ${hint}; Ctrl-C stops it`),
        onDefect: (error) => tell(`INTERNAL: a request failed: ${String(error)}`),
      });
    });
  } finally {
    await channels.close();
    await place.close();
  }
  return 0;
}

/** Time for running calls after SIGTERM: with the answers in work and the end of the calls, the gateway ends within 30 s. */
const GRACE_MS = WORKER_LIMITS.shutdownGraceMs - HTTP_LIMITS.drainMs;

function checkOrigin(given: string): string {
  const origin = readOrigin(given);
  if (origin !== undefined) return origin;
  throw new PerdureError('BAD_OPTION', `public-origin: an origin such as https://agents.example.com, got ${echoValue(given)}`, 2);
}

const FRAMEWORK = { command: 'perdure serve', name: 'fastify', code: 'FASTIFY_PACKAGE' } as const;

interface Access extends Pick<GatewayOptions, 'access'> {
  /** Where clients get their token, for the user. */
  readonly hint: string;
}

async function openAccess(tokens: string | undefined, ask: TokenFunction | undefined): Promise<Access> {
  if (ask && tokens !== undefined) {
    throw new PerdureError('BAD_OPTION', 'tokens: the config has gateway.tokens, so there can be no file of tokens', 2);
  }
  if (ask) return { access: { ask }, hint: 'tokens by gateway.tokens of the config' };
  if (tokens !== undefined) {
    const { parseTokens } = await import('../../gateway/http/access/tokens.js');
    const entries = parseTokens(await readTokens(tokens), tokens);
    return { access: { entries }, hint: `${entries.length} tokens of ${tokens}` };
  }
  const { dir } = await openStateFolder(resolveStateDir());
  const file = join(dir, 'gateway-token');
  const token = Buffer.from(await openAuthKey(file)).toString('hex');
  return { access: { token }, hint: `token ${token} (in ${file})` };
}

async function readTokens(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new PerdureError('BAD_TOKENS', `${path} cannot be read (${why})`, 2, { cause });
  }
}
