import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { redact } from '../../contracts/text/redact.js';
import type { Door } from './door.js';
import { type RunTool, runTools, type ToolCall } from './run-tools.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Options of `createMcpServer`. */
export interface McpServerOptions {
  readonly door: Door;
  /** Ends the waits of clients; each gets the progress of its run. */
  readonly ending: AbortSignal;
  /** Called with each call, so that the end of the server can wait for it. */
  readonly track: <T>(call: Promise<T>) => Promise<T>;
}

/** An MCP server for one connection whose tools start, watch and steer runs. A failed call is a result `CODE: message`, never a protocol error. */
export function createMcpServer({ door, ending, track }: McpServerOptions): McpServer {
  const mcp = new McpServer({ name: 'perdure', version: door.version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  const tools = runTools(door);
  // the server's own registry of tools answers invalid input with the schema library's JSON in place of one line
  const { server } = mcp;
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toListed) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const call: ToolCall = {
      by: `mcp:${server.getClientVersion()?.name ?? 'client'}`,
      signal: AbortSignal.any([extra.signal, ending]),
      report: progressTo(extra),
    };
    return track(callTool(tools, params, { door, call }));
  });
  return mcp;
}

const INSTRUCTIONS =
  'Starts and controls durable agent runs. run_start returns at once; follow the run with run_wait until done is true. A run continues ' +
  'when this client disconnects: find it again with runs_list.';

function toListed({ name, description, input, effect }: RunTool): Tool {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: 'input' });
  // the schema of an object has schemas as properties
  const inputSchema = schema as Tool['inputSchema'];
  return { name, description, inputSchema, annotations: { ...ANNOTATIONS[effect], openWorldHint: effect !== 'read' } };
}

const ANNOTATIONS: Readonly<Record<RunTool['effect'], ToolAnnotations>> = {
  read: { readOnlyHint: true },
  change: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

async function callTool(
  tools: readonly RunTool[],
  { name, arguments: given }: { readonly name: string; readonly arguments?: unknown },
  { door, call }: { readonly door: Door; readonly call: ToolCall },
): Promise<CallToolResult> {
  try {
    const tool = tools.find((each) => each.name === name);
    if (!tool) throw unknownTool(name, tools);
    const structuredContent = { ...(await tool.run(given, door, call)) };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (error) {
    const { code, message } = errorOf(error);
    return { content: [{ type: 'text', text: `${code}: ${message}` }], structuredContent: { error: { code, message } }, isError: true };
  }
}

function unknownTool(name: string, tools: readonly RunTool[]): PerdureError {
  const names = tools.map((tool) => tool.name);
  return new PerdureError('UNKNOWN_TOOL', `no tool ${echoValue(name)}${didYouMean(name, names)}; available: ${names.join(', ')}`, 2);
}

function errorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof PerdureError) return { code: error.code, message: redact(error.message) };
  return { code: 'INTERNAL', message: redact(error instanceof Error ? error.message : String(error)) };
}

/** Sends progress notifications to a client that asked for them. Their number grows with each, as the protocol demands. */
function progressTo({ _meta, sendNotification, signal }: Extra): ToolCall['report'] {
  const progressToken = _meta?.progressToken;
  let last = -1;
  return async (message: string, progress: Progress | undefined) => {
    if (progressToken === undefined || signal.aborted) return;
    last = Math.max(progress?.turn ?? 0, last + PROGRESS_STEP);
    const total = progress === undefined || last > progress.maxTurns ? {} : { total: progress.maxTurns };
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: last, ...total, message } });
  };
}

/** Between two lines of one turn. */
const PROGRESS_STEP = 0.001;
