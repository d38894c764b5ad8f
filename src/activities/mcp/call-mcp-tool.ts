import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { ELICITATION_LIMITS, MCP_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart, JsonValue } from '../../contracts/schemas/message.js';
import type { Effect } from '../../contracts/schemas/tool.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { OutcomeUnknownError } from '../../define/define-tool.js';
import { argumentsProblem, type InputSchema } from './argument-check.js';
import type { AskingContext } from './asking-context.js';
import type { McpConnection } from './connection.js';
import { createElicit } from './elicit.js';
import type { McpPool } from './pool.js';
import { resultParts, resultText } from './result-parts.js';
import { createSample } from './sample.js';
import { SERVER_TOOLS } from './server-tools.js';
import { mcpToolName } from './tool-name.js';

/** A call of a server's tool. */
export interface McpCall {
  /** As the model sees it. */
  readonly name: string;
  readonly server: string;
  readonly args: Record<string, unknown>;
  effectOf(tool: Tool): Effect;
}

/** Where it runs. */
export interface McpCallPlace {
  readonly pool: McpPool;
  readonly context: AskingContext;
}

/** Starts of a call that the server did not take, or that may be repeated. */
const ATTEMPTS_MAX = 2;

/**
 * Calls a tool of an MCP server, which is started if it does not run. A call that was not sent, or whose effect may be repeated, is made
 * once more if the server is lost. Throws an Error with the text of a failed result, and `OutcomeUnknownError` when a call that must not be
 * repeated was sent and got no answer.
 */
export async function callMcpTool(call: McpCall, { pool, context }: McpCallPlace): Promise<readonly ContentPart[]> {
  const { workspace, signal, ask, sampling, runId } = context;
  const place = { workspace, signal, run: ask || sampling ? { id: runId, samples: sampling !== undefined } : undefined };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await pool.use(call.server, place, async (connection) => {
      await connection.updateTools(context.signal);
      const tried = await tryCall(call, connection, context);
      // a call may change what the server offers
      await connection.updateTools(context.signal);
      return tried;
    });
    if ('parts' in answer) return answer.parts;
    if (!answer.isRepeatable) throw new OutcomeUnknownError(`the MCP server ${call.server} was lost during the call: ${answer.lost}`);
    if (attempt === ATTEMPTS_MAX) throw new Error(`the MCP server ${call.server} was lost: ${answer.lost}`);
  }
}

type Answer = { readonly parts: readonly ContentPart[] } | { readonly lost: string; readonly isRepeatable: boolean };

async function tryCall(call: McpCall, connection: McpConnection, context: AskingContext): Promise<Answer> {
  const tool = connection.tools.find(({ name }) => mcpToolName(call.server, name) === call.name);
  const added = tool ? undefined : SERVER_TOOLS.find(({ name }) => mcpToolName(call.server, name) === call.name);
  const schema = added?.schema ?? (tool?.inputSchema as InputSchema | undefined);
  if (!schema) throw new Error(missing(call, connection));
  const problem = argumentsProblem(call.args as JsonValue, schema);
  if (problem !== undefined) throw new Error(`invalid arguments for ${call.name}: ${problem}; schema: ${shownSchema(schema)}`);
  const isRepeatable = !tool || call.effectOf(tool) !== 'once';
  // a call that was stopped before it was sent took no effect
  context.signal.throwIfAborted();
  let result: McpResult;
  try {
    result = await send(call, { connection, context, tool: tool?.name ?? added?.name ?? '' });
  } catch (error) {
    if (context.signal.aborted) {
      // the next call must not wait for a server that hangs
      void connection.retireIfSilent();
      if (isRepeatable) throw error;
      throw new OutcomeUnknownError(`the request was sent to the MCP server ${call.server}, which did not answer`);
    }
    const loss = connection.lossOf(error);
    if (loss === undefined) throw error;
    if (loss === 'answered') throw oddAnswer(call, isRepeatable);
    connection.retire();
    return { lost: connection.reasonOf(error), isRepeatable: isRepeatable || loss === 'not sent' };
  }
  // an error has a text: its images are left out
  if (result.isError) throw new Error(resultText(result.parts) || 'tool failed without message');
  return { parts: result.parts };
}

/** The call was made, so an answer that is no result is no reason to make it again. */
function oddAnswer({ server }: McpCall, isRepeatable: boolean): Error {
  const what = `the MCP server ${server} answered with something that is no result of a tool`;
  return isRepeatable ? new Error(what) : new OutcomeUnknownError(what);
}

/** What a server answered. */
interface McpResult {
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
}

async function send(
  { server, args }: McpCall,
  { connection, context, tool }: { readonly connection: McpConnection; readonly context: AskingContext; readonly tool: string },
): Promise<McpResult> {
  const { signal, ask, sampling, secrets } = context;
  const added = connection.tools.some(({ name }) => name === tool) ? undefined : SERVER_TOOLS.find(({ name }) => name === tool);
  // the signal has the time limit of the call
  const timeout = ask || sampling ? ELICITATION_LIMITS.requestTimeoutMsMax : MCP_LIMITS.requestTimeoutMsMax;
  const options = { signal, timeout };
  if (added) return { parts: await connection.request((client) => added.run(client, args, options)), isError: false };
  const handlers = { elicit: ask && createElicit(server, ask, secrets), sample: sampling && createSample(server, sampling, secrets) };
  const result = await connection.callTool(tool, args, { ...options, handlers, onprogress: (progress) => context.heartbeat(progress) });
  return { parts: resultParts(result), isError: result.isError === true };
}

function missing({ name, server }: McpCall, { tools }: McpConnection): string {
  const names = tools.map((tool) => mcpToolName(server, tool.name));
  return `the MCP server ${server} has no tool ${name}${didYouMean(name, names)}; it has: ${names.join(', ').slice(0, 1_000)}`;
}

function shownSchema(schema: InputSchema): string {
  return JSON.stringify(schema).slice(0, 4_000);
}
