import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { MCP_LIMITS, SAMPLING_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import type { ToolList } from '../../contracts/schemas/prepared-run.js';
import type { SamplingBounds } from '../../contracts/schemas/sampling.js';
import type { Effect } from '../../contracts/schemas/tool.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { AnyToolDefinition, ToolContext, ToolReturn } from '../../define/define-tool.js';
import type { McpServer, McpToolOptions } from '../../define/worker/mcp-servers.js';
import { messageOf } from '../runtime/failures.js';
import { type InputSchema, inputSchemaProblem } from './argument-check.js';
import { callMcpTool } from './call-mcp-tool.js';
import type { McpConnection } from './connection.js';
import type { McpPlace, McpPool } from './pool.js';
import { SERVER_TOOLS, type ServerTool } from './server-tools.js';
import { mcpToolName, serverOfTool } from './tool-name.js';

/** A tool of a server, as a run is offered it. */
export interface McpToolOffer {
  readonly tool: AnyToolDefinition;
  /** True for a tool that runs on the host of the workspace. */
  readonly workspace: boolean;
  /** True for a tool whose calls may ask the person of the run. */
  readonly asks: boolean;
  /** For a tool whose calls may request completions of the run. */
  readonly samples?: SamplingBounds;
}

/** The tools of servers for one run. */
export interface McpOffer {
  readonly tools: readonly McpToolOffer[];
  /** Servers that could not be reached, and tools that were left out. */
  readonly notices: readonly string[];
  /** A hash of the tools of each server that answered. */
  readonly hashes: Readonly<Record<string, string>>;
  /** Why the run cannot start: a server that it requires. */
  readonly problem?: string;
}

const NOTHING: McpOffer = { tools: [], notices: [], hashes: {} };

/** One server for one run. */
interface ServerUse {
  readonly name: string;
  readonly server: McpServer;
}

/** The tools of a worker's MCP servers. */
export class McpTools {
  readonly #pool: McpPool;
  /** The hash of each list of a connection. */
  readonly #hashes = new WeakMap<readonly Tool[], string>();

  constructor(pool: McpPool) {
    this.#pool = pool;
  }

  /** The tool of a call; undefined if its name is of no server. The server, which may not be running, decides whether it exists. */
  get(name: string): AnyToolDefinition | undefined {
    const serverName = serverOfTool(name);
    const server = this.#pool.definition(serverName);
    return server && this.#definition(name, { name: serverName, server }, {});
  }

  /** The present list of the server of a tool. Undefined for a tool of no server, and while the server is not connected. */
  listOf(toolName: string, place: Pick<McpPlace, 'workspace' | 'run'>): ToolList | undefined {
    const name = serverOfTool(toolName);
    const server = this.#pool.definition(name);
    const connection = server && this.#pool.connectionOf(name, place);
    if (!connection) return undefined;
    const [notice] = unreadList(name, connection);
    return { server: name, hash: this.#hashOf({ name, server }, connection), ...(notice === undefined ? {} : { notice }) };
  }

  /** Starts servers and lists their tools. A server that cannot be reached is a notice, or the problem of the run. Never rejects. */
  async offer(servers: readonly string[], run: McpPlace): Promise<McpOffer> {
    const offers = await Promise.all(servers.map((name) => this.#offerOf(name, run)));
    const [problem] = offers.flatMap((offer) => offer.problem ?? []);
    return {
      tools: offers.flatMap(({ tools }) => tools),
      notices: offers.flatMap(({ notices }) => shortened(notices)),
      hashes: Object.assign({}, ...offers.map(({ hashes }) => hashes)),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  async #offerOf(name: string, run: McpPlace): Promise<McpOffer> {
    const server = this.#pool.definition(name);
    if (!server || (needsWorkspace(server) && run.workspace === undefined)) return NOTHING;
    try {
      return await this.#pool.use(name, run, async (connection) => {
        await connection.updateTools(run.signal);
        return this.#offered({ name, server }, connection, run);
      });
    } catch (error) {
      const problem = `MCP server ${name} cannot be used: ${messageOf(error)}`;
      return server.required ? { ...NOTHING, problem } : { ...NOTHING, notices: [problem] };
    }
  }

  #offered(use: ServerUse, connection: McpConnection, { run }: Pick<McpPlace, 'run'> = {}): McpOffer {
    const { name, server } = use;
    const { tools, abilities } = connection;
    const usable = tools.filter((tool) => !server.blockedTools?.includes(tool.name));
    const problems = usable.map((tool) => inputSchemaProblem(tool.inputSchema as InputSchema));
    const sound = usable.filter((_, index) => problems[index] === undefined);
    const own = sound.slice(0, MCP_LIMITS.toolsMax).map((tool) => this.#definition(mcpToolName(name, tool.name), use, { tool }));
    const others = SERVER_TOOLS.filter((tool) => abilities[tool.needs] && !tools.some((other) => other.name === tool.name));
    const added = others.map((tool) => this.#definition(mcpToolName(name, tool.name), use, { added: tool }));
    const seen = new Set<string>();
    const notices = [
      ...unreadList(name, connection),
      ...usable.flatMap((tool, index) => (problems[index] ? [`MCP tool ${name} ${shown(tool.name)} is left out: ${problems[index]}`] : [])),
      ...(sound.length > MCP_LIMITS.toolsMax ? [`MCP server ${name}: only its first ${MCP_LIMITS.toolsMax} tools are offered`] : []),
    ];
    // a server may list a name twice
    const offered = [...own, ...added].filter((tool) => !seen.has(tool.name) && seen.add(tool.name));
    const hash = hashJson(
      offered.map(({ description, effect, name: tool, schema }) => ({ description, effect, schema: schema ?? null, tool })),
    );
    this.#hashes.set(tools, hash);
    const asks = server.elicitation === true && run !== undefined;
    const samples = run?.samples ? samplingBounds(server) : undefined;
    const more = { workspace: needsWorkspace(server), asks, ...(samples ? { samples } : {}) };
    return { tools: offered.map((tool) => ({ tool, ...more })), notices, hashes: { [name]: hash } };
  }

  #hashOf(use: ServerUse, connection: McpConnection): string {
    return this.#hashes.get(connection.tools) ?? this.#offered(use, connection).hashes[use.name] ?? '';
  }

  /** A tool of a server. Without what the server says of it, only what a call needs is known. */
  #definition(name: string, use: ServerUse, { tool, added }: { readonly tool?: Tool; readonly added?: ServerTool }): AnyToolDefinition {
    const { server } = use;
    const options = tool ? (server.tools?.[tool.name] ?? {}) : optionsOf(name, use);
    const schema = added?.schema ?? (tool?.inputSchema as InputSchema | undefined);
    return {
      name,
      description: added ? added.description(use.name) : describe(tool),
      parameters: Arguments,
      ...(schema ? { schema } : {}),
      effect: added ? 'read' : effectOf(tool, options),
      timeoutMs: options.timeoutMs ?? server.timeoutMs ?? TOOL_LIMITS.timeoutMsDefault,
      pure: false,
      approval: options.approval ?? server.approval ?? 'never',
      execute: async (args: Record<string, unknown>, context: ToolContext): Promise<ToolReturn> =>
        await callMcpTool({ name, server: use.name, args, effectOf: (found) => effectOf(found, options) }, { pool: this.#pool, context }),
    };
  }
}

/** Arguments are objects. Their schema is checked with the server's present one. */
const Arguments = z.record(z.string(), z.json());

function needsWorkspace(server: McpServer): boolean {
  return 'command' in server && server.workspace === true;
}

/** The limits of the completions of a call; undefined for a server that may request none. */
function samplingBounds({ sampling = false }: McpServer): SamplingBounds | undefined {
  if (sampling === false) return undefined;
  const { requestsDefault, tokensDefault } = SAMPLING_LIMITS;
  const { maxRequests = requestsDefault, maxTokens = tokensDefault } = sampling === true ? {} : sampling;
  return { requestsMax: maxRequests, tokensMax: maxTokens };
}

function optionsOf(name: string, { name: server, server: { tools = {} } }: ServerUse): McpToolOptions {
  return Object.entries(tools).find(([tool]) => mcpToolName(server, tool) === name)?.[1] ?? {};
}

/** The effect of a tool: that of the config, else what the server says of it, else the one that is never repeated. */
function effectOf(tool: Tool | undefined, { effect }: McpToolOptions): Effect {
  if (effect) return effect;
  if (tool?.annotations?.readOnlyHint) return 'read';
  return tool?.annotations?.idempotentHint ? 'idempotent' : 'once';
}

function describe(tool: Tool | undefined): string {
  const text = cleanText(tool?.description ?? tool?.title ?? tool?.annotations?.title ?? '').trim();
  return text.length <= MCP_LIMITS.descriptionCharsMax ? text : `${text.slice(0, MCP_LIMITS.descriptionCharsMax)} …`;
}

/** The notice about a server whose changed tools cannot be read. */
function unreadList(name: string, { listProblem }: McpConnection): readonly string[] {
  if (listProblem === undefined) return [];
  return [`MCP server ${name} changed its tools, and the new list cannot be read: ${listProblem}. The run keeps those that it has.`];
}

/** What a server can make of the notices of a run is bounded. */
function shortened(notices: readonly string[]): readonly string[] {
  const { noticesMax, noticeCharsMax } = MCP_LIMITS;
  const first = notices
    .slice(0, noticesMax)
    .map((notice) => (notice.length <= noticeCharsMax ? notice : `${notice.slice(0, noticeCharsMax)}…`));
  return notices.length <= noticesMax ? first : [...first, `and ${notices.length - noticesMax} more notices of this kind`];
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 80));
}
