import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { Elicit } from './elicit.js';
import { ANSWER_CUT } from './http-transport.js';
import { ProcessTransport } from './process-transport.js';
import { refuseOutsideCall } from './request-refusal.js';
import type { Sample } from './sample.js';
import { loadSdk } from './server-access.js';

/** What a server offers beside tools. */
export interface McpAbilities {
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** What a server may request during its calls. */
export interface McpRequests {
  /** Answers of a person. */
  readonly elicits: boolean;
  /** Completions of a model. */
  readonly samples: boolean;
}

/** What answers the requests of a server during one call. */
export interface RequestHandlers {
  readonly elicit?: Elicit | undefined;
  readonly sample?: Sample | undefined;
}

const NO_REQUESTS: McpRequests = { elicits: false, samples: false };

/** A server that answers. After it was lost, each request rejects; a new connection is needed. */
export class McpConnection {
  readonly abilities: McpAbilities;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #hasOwnSession: boolean;
  #tools: readonly Tool[];
  /** The server said that its list changed. */
  #isOutdated = false;
  #listProblem: string | undefined;
  #isRetired = false;
  #isClosed = false;
  #using = 0;
  #handlers: RequestHandlers = {};

  private constructor(
    client: Client,
    transport: Transport,
    { tools, hasOwnSession }: { readonly tools: readonly Tool[]; readonly hasOwnSession: boolean },
  ) {
    const { resources, prompts } = client.getServerCapabilities() ?? {};
    this.abilities = { resources: resources !== undefined, prompts: prompts !== undefined };
    this.#tools = tools;
    this.#client = client;
    this.#transport = transport;
    this.#hasOwnSession = hasOwnSession;
    Object.assign(client, {
      onclose: () => {
        this.#isClosed = true;
      },
      onerror: ({ message }: Error) => {
        // the SDK does not report it to the requests that wait for an answer
        if (message.startsWith('Maximum reconnection attempts')) void this.close();
      },
    } satisfies Pick<Client, 'onclose' | 'onerror'>);
  }

  /** Greets a server and lists its tools. Rejects, with the server ended, if that fails or the signal aborts. */
  static async open(
    openTransport: () => Promise<Transport>,
    signal: AbortSignal,
    requests: McpRequests = NO_REQUESTS,
  ): Promise<McpConnection> {
    const client = await newClient(requests);
    const transport = await openTransport();
    if (transport instanceof ProcessTransport) transport.use(true);
    try {
      await client.connect(transport, { signal, timeout: MCP_LIMITS.connectTimeoutMs });
      const hasOwnSession = requests.elicits || requests.samples;
      const connection = new McpConnection(client, transport, { tools: await toolsOf(client, signal), hasOwnSession });
      await connection.#heedChanges();
      await connection.#takeRequests(requests);
      return connection;
    } catch (error) {
      await client.close().catch(() => undefined);
      throw new Error(reasonOf(error, transport), { cause: error });
    } finally {
      if (transport instanceof ProcessTransport) transport.use(false);
    }
  }

  /** Its tools, in the order of the server. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Why the last change of the tools could not be read; undefined if the list is the present one. */
  get listProblem(): string | undefined {
    return this.#listProblem;
  }

  /** Lists the tools again if the server said that they changed. When that fails, the list stays as it was, and `listProblem` has the reason. */
  async updateTools(signal: AbortSignal): Promise<void> {
    if (!this.#isOutdated || this.isLost) return;
    this.#isOutdated = false;
    try {
      this.#tools = await this.request((client) => toolsOf(client, signal));
      this.#listProblem = undefined;
    } catch (error) {
      this.#isOutdated = true;
      // a call that was cancelled says nothing of the list
      if (!signal.aborted) this.#listProblem = cleanText(this.reasonOf(error)).replaceAll(/\s+/gu, ' ').slice(0, MCP_LIMITS.noticeCharsMax);
    }
  }

  async #heedChanges(): Promise<void> {
    const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#isOutdated = true;
    });
  }

  /** True for a connection that takes no further calls: the server ended, or its next call needs another one. */
  get isLost(): boolean {
    return this.#isClosed || this.#isRetired;
  }

  /** Answers the requests of the server during a call that may make them. */
  async #takeRequests({ elicits, samples }: McpRequests): Promise<void> {
    const { CreateMessageRequestSchema, ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const isLost = (): boolean => this.isLost;
    if (elicits) {
      this.#client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
        const { elicit = refuseOutsideCall } = this.#handlers;
        return await elicit(params, { signal, isLost });
      });
    }
    if (samples) {
      this.#client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) => {
        const { sample = refuseOutsideCall } = this.#handlers;
        return await sample(params, { signal, isLost });
      });
    }
  }

  /**
   * Calls a tool. The result of the server, which may be an error that the tool reports. `handlers` answer what the server requests meanwhile:
   * the connection then makes no other call.
   */
  async callTool(
    name: string,
    args: Record<string, unknown>,
    { handlers = {}, ...options }: RequestOptions & { readonly handlers?: RequestHandlers },
  ): Promise<CallToolResult> {
    this.#handlers = handlers;
    try {
      return await this.#callTool(name, args, options);
    } finally {
      this.#handlers = {};
    }
  }

  async #callTool(name: string, args: Record<string, unknown>, options: RequestOptions): Promise<CallToolResult> {
    const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const params = { name, arguments: args };
    // `callTool` of the client would refuse the result of a call that took effect, if it does not match the schema of the server
    return await this.request((client) => client.request({ method: 'tools/call', params }, CallToolResultSchema, options));
  }

  /** Makes any other request with the SDK's client. */
  async request<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const transport = this.#transport;
    this.#using += 1;
    // a process keeps Node alive only while somebody waits for it
    if (transport instanceof ProcessTransport) transport.use(true);
    try {
      return await work(this.#client);
    } finally {
      this.#using -= 1;
      if (this.#using === 0) {
        if (transport instanceof ProcessTransport) transport.use(false);
        if (this.#isRetired) void this.close();
      }
    }
  }

  /** Retires the server unless it answers a ping. */
  async retireIfSilent(): Promise<void> {
    try {
      await this.#client.ping({ timeout: MCP_LIMITS.pingTimeoutMs });
    } catch {
      this.retire();
    }
  }

  /** Takes no further calls. Those of other runs that wait for an answer keep their time; then the server is ended. */
  retire(): void {
    this.#isRetired = true;
    if (this.#using === 0) void this.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endSession();
    await this.#client.close().catch(() => undefined);
  }

  /** Tells a server with an address that its session ends: each run has a session of its own where a server may ask. */
  async #endSession(): Promise<void> {
    const transport = this.#transport;
    if (!this.#hasOwnSession || !('terminateSession' in transport)) return;
    // the transport of the SDK
    const told = (transport as StreamableHTTPClientTransport).terminateSession().catch(() => undefined);
    await Promise.race([told, delay(MCP_LIMITS.pingTimeoutMs, undefined, { ref: false })]);
  }

  /**
   * What became of a request that failed: `not sent`; `sent`, with its answer lost; `answered`, with something that is no result. Undefined
   * for an error that the server reported.
   */
  lossOf(error: unknown): Loss | undefined {
    if (this.#isClosed) return 'sent';
    // the SDK checks each answer, and an answer that is nested too deeply leaves no room on the stack for it
    if (error instanceof RangeError || (error instanceof Error && error.name.endsWith('ZodError'))) return 'answered';
    return this.#transport instanceof ProcessTransport ? undefined : lossOf(error);
  }

  /** Why a request failed, with what is known of the server's end. */
  reasonOf(error: unknown): string {
    return reasonOf(error, this.#transport);
  }
}

/** What became of a request that failed. */
export type Loss = 'not sent' | 'sent' | 'answered';

/** A client that offers its servers these requests. */
async function newClient({ elicits, samples }: McpRequests): Promise<Client> {
  const { Client: SdkClient } = await loadSdk(() => import('@modelcontextprotocol/sdk/client/index.js'));
  const { CfWorkerJsonSchemaValidator } = await loadSdk(() => import('@modelcontextprotocol/sdk/validation/cfworker'));
  // its other validator compiles schemas of the server to code
  const capabilities = { ...(elicits ? { elicitation: { form: {} } } : {}), ...(samples ? { sampling: {} } : {}) };
  return new SdkClient({ name: 'perdure', version: '1' }, { capabilities, jsonSchemaValidator: new CfWorkerJsonSchemaValidator() });
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

/** True for the error of a connection that was never made. A network that goes away reports the same code for one that was. */
function isUnconnected(cause: unknown): boolean {
  // a name with several addresses has an error for each
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(isUnconnected);
  if (!(cause instanceof Error)) return false;
  const syscall: unknown = Reflect.get(cause, 'syscall');
  return syscall === 'connect' || syscall === 'getaddrinfo' || Reflect.get(cause, 'code') === 'UND_ERR_CONNECT_TIMEOUT';
}

function lossOf(error: unknown): Loss | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (error.name === 'McpError') return error.message.endsWith(ANSWER_CUT) ? 'sent' : undefined;
  if (typeof code === 'number') return NOT_TAKEN.has(code) ? 'not sent' : code >= FAILED_ON_SERVER || code < 0 ? 'sent' : undefined;
  return isUnconnected(error.cause) ? 'not sent' : 'sent';
}
