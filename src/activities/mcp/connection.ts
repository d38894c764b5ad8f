import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import { ANSWER_CUT } from './http-transport.js';
import { ProcessTransport } from './process-transport.js';
import { loadSdk } from './server-access.js';

/** What a server offers beside tools. */
export interface McpAbilities {
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** A server that answers. After it was lost, each request rejects; a new connection is needed. */
export class McpConnection {
  /** Its tools, in the order of the server. */
  readonly tools: readonly Tool[];
  readonly abilities: McpAbilities;
  readonly #client: Client;
  readonly #transport: Transport;
  #isLost = false;
  #using = 0;

  private constructor(client: Client, transport: Transport, tools: readonly Tool[]) {
    const { resources, prompts } = client.getServerCapabilities() ?? {};
    this.abilities = { resources: resources !== undefined, prompts: prompts !== undefined };
    this.tools = tools;
    this.#client = client;
    this.#transport = transport;
    Object.assign(client, {
      onclose: () => {
        this.#isLost = true;
      },
      onerror: ({ message }: Error) => {
        // the SDK does not report it to the requests that wait for an answer
        if (message.startsWith('Maximum reconnection attempts')) void this.close();
      },
    } satisfies Pick<Client, 'onclose' | 'onerror'>);
  }

  /** Greets a server and lists its tools. Rejects, with the server ended, if that fails or the signal aborts. */
  static async open(openTransport: () => Promise<Transport>, signal: AbortSignal): Promise<McpConnection> {
    const client = await newClient();
    const transport = await openTransport();
    if (transport instanceof ProcessTransport) transport.use(true);
    try {
      await client.connect(transport, { signal, timeout: MCP_LIMITS.connectTimeoutMs });
      return new McpConnection(client, transport, await toolsOf(client, signal));
    } catch (error) {
      await client.close().catch(() => undefined);
      throw new Error(reasonOf(error, transport), { cause: error });
    } finally {
      if (transport instanceof ProcessTransport) transport.use(false);
    }
  }

  /** True after the server ended, or was ended. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Calls a tool. The result of the server, which may be an error that the tool reports. */
  async callTool(name: string, args: Record<string, unknown>, options: RequestOptions): Promise<CallToolResult> {
    const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const params = { name, arguments: args };
    // `callTool` of the client would refuse the result of a call that took effect, if it does not match the schema of the server
    return await this.request((client) => client.request({ method: 'tools/call', params }, CallToolResultSchema, options));
  }

  /** Makes any other request with the SDK's client. */
  async request<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const transport = this.#transport;
    if (!(transport instanceof ProcessTransport)) return await work(this.#client);
    // a process keeps Node alive only while somebody waits for it
    this.#using += 1;
    transport.use(true);
    try {
      return await work(this.#client);
    } finally {
      this.#using -= 1;
      if (this.#using === 0) transport.use(false);
    }
  }

  /** Ends the server unless it answers a ping. */
  async endIfSilent(): Promise<void> {
    try {
      await this.#client.ping({ timeout: MCP_LIMITS.pingTimeoutMs });
    } catch {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#isLost = true;
    await this.#client.close().catch(() => undefined);
  }

  /** Whether a request that failed got lost with its server, and whether it was sent. Undefined for an error that the server reported. */
  lossOf(error: unknown): 'sent' | 'not sent' | undefined {
    if (this.#isLost) return 'sent';
    return this.#transport instanceof ProcessTransport ? undefined : lossOf(error);
  }

  /** Why a request failed, with what is known of the server's end. */
  reasonOf(error: unknown): string {
    return reasonOf(error, this.#transport);
  }
}

/** A client without abilities of its own: servers can ask neither a person nor a model. */
async function newClient(): Promise<Client> {
  const { Client: SdkClient } = await loadSdk(() => import('@modelcontextprotocol/sdk/client/index.js'));
  const { CfWorkerJsonSchemaValidator } = await loadSdk(() => import('@modelcontextprotocol/sdk/validation/cfworker'));
  // its other validator compiles schemas of the server to code
  return new SdkClient({ name: 'perdure', version: '1' }, { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() });
}

async function toolsOf(client: Client, signal: AbortSignal): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MCP_LIMITS.pagesMax; page += 1) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { signal, timeout: MCP_LIMITS.connectTimeoutMs });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined || tools.length > MCP_LIMITS.toolsMax) break;
  }
  return tools;
}

function reasonOf(error: unknown, transport: Transport): string {
  const own = error instanceof Error ? error.message : String(error);
  if (!(transport instanceof ProcessTransport) || transport.problem === undefined) return own;
  const errors = transport.lastErrors();
  return errors === '' ? transport.problem : `${transport.problem}: ${errors}`;
}

/** Statuses that say that a request was not worked on: a token or a session that ended. */
const NOT_TAKEN: ReadonlySet<unknown> = new Set([401, 404]);
const FAILED_ON_SERVER = 500;

/** Errors of a connection that was never made. */
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function lossOf(error: unknown): 'sent' | 'not sent' | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (error.name === 'McpError') return error.message.endsWith(ANSWER_CUT) ? 'sent' : undefined;
  if (typeof code === 'number') return NOT_TAKEN.has(code) ? 'not sent' : code >= FAILED_ON_SERVER || code < 0 ? 'sent' : undefined;
  const cause: unknown = error.cause instanceof Error ? Reflect.get(error.cause, 'code') : undefined;
  return typeof cause === 'string' && NO_CONNECTION.has(cause) ? 'not sent' : 'sent';
}
