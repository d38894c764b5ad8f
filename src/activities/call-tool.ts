import { Context } from '@temporalio/activity';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../contracts/activities.js';
import { hashMessage } from '../contracts/digest.js';
import { cutText } from '../contracts/failures.js';
import { TOOL_LIMITS, WORKER_LIMITS } from '../contracts/limits.js';
import type { JsonValue, Message } from '../contracts/message.js';
import { type AnyToolDefinition, parametersSchema, type ToolContext, type ToolReturn } from '../define/define-tool.js';
import { type CancellationCause, cancellationCause, throwUnlessUser } from './cancellation.js';
import { messageOf } from './failures.js';
import { withHeartbeat } from './heartbeat.js';
import { toolResultParts } from './tool-result-parts.js';
import type { TranscriptCache } from './transcript-cache.js';

/** What the activity needs of its worker. */
export interface CallToolOptions {
  readonly tools: ReadonlyMap<string, AnyToolDefinition>;
  readonly cache: TranscriptCache;
}

/** Makes the activity `callTool`: one start of one tool, its end always a result the model reads. Throws only when its worker goes. */
export function createCallTool(options: CallToolOptions): (input: CallToolInput) => Promise<CallToolResult> {
  return (input) => {
    const shown: { details: JsonValue } = { details: null };
    const startedAt = Date.now();
    return withHeartbeat(
      input.tool,
      () => ({
        phase: 'tool',
        elapsedMs: Date.now() - startedAt,
        lastText: cutText(JSON.stringify(shown.details), WORKER_LIMITS.heartbeatBytesMax / 2),
      }),
      async () => {
        const ended = await runTool(input, options, shown);
        return asResult(input, options, ended, Date.now() - startedAt);
      },
    );
  };
}

/** How a tool ended, before it is put into a message. */
interface Ended {
  readonly outcome: ToolOutcome;
  readonly value: ToolReturn;
}

async function runTool(input: CallToolInput, { tools }: CallToolOptions, shown: { details: JsonValue }): Promise<Ended> {
  const tool = tools.get(input.tool);
  if (!tool) return { outcome: 'failed', value: `the tool ${input.tool} is not available on this worker` };
  const parsed = parseArguments(input, tool);
  if ('problem' in parsed) return { outcome: 'failed', value: parsed.problem };
  const context = Context.current();
  const timeout = AbortSignal.timeout(input.timeoutMs);
  const signal = AbortSignal.any([context.cancellationSignal, timeout]);
  const work = execute(tool, parsed.args, toolContext(input, signal, shown));
  const ended = await Promise.race([work, abandoned(signal)]);
  const cause = cancellationCause(context);
  if (ended.kind !== 'returned') throwUnlessUser(cause, `the tool ${input.tool}`);
  return judge(input, ended, { cause, timedOut: timeout.aborted });
}

type Executed =
  | { readonly kind: 'returned'; readonly value: ToolReturn }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'abandoned' };

async function execute(tool: AnyToolDefinition, args: unknown, context: ToolContext): Promise<Executed> {
  try {
    // the arguments were parsed by this tool's own schema
    return { kind: 'returned', value: await tool.execute(args as never, context) };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** Resolves a while after the signal: a tool that ignores it is given up as unknown (DESIGN section 4). */
function abandoned(signal: AbortSignal): Promise<Executed> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      setTimeout(() => resolve({ kind: 'abandoned' }), TOOL_LIMITS.abandonAfterMs).unref();
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

function judge(input: CallToolInput, ended: Executed, stop: { cause: CancellationCause; timedOut: boolean }): Ended {
  // a tool that finished although it was told to stop has done its work: its result stands
  if (ended.kind === 'returned') return { outcome: 'ok', value: ended.value };
  // the whole text: what the model reads is cut with a footer later, and a failed command says most at its end
  const said = ended.kind === 'threw' ? errorText(ended.error) : 'it did not stop when told to';
  if (stop.cause === 'user')
    return { outcome: 'cancelled', value: `[cancelled] stopped while running; it may have taken partial effect. ${said}` };
  if (ended.kind === 'abandoned')
    return { outcome: 'unknown', value: `[outcome unknown] timed out after ${seconds(input.timeoutMs)}; ${said}` };
  if (stop.timedOut) return { outcome: 'timeout', value: `timed out after ${seconds(input.timeoutMs)}: ${said}` };
  return { outcome: 'failed', value: said };
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'tool failed without message' : text;
}

function parseArguments(input: CallToolInput, tool: AnyToolDefinition): { readonly args: unknown } | { readonly problem: string } {
  const sent = input.argsText ?? JSON.stringify(input.args);
  const problem = input.argsText === undefined ? undefined : jsonProblem(input.argsText);
  const parsed = tool.parameters.safeParse(input.args);
  if (problem === undefined && parsed.success) return { args: parsed.data };
  const why =
    problem ??
    parsed.error?.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`).join('; ') ??
    'not an object';
  const schema = JSON.stringify(parametersSchema(tool));
  return {
    problem: `invalid arguments for ${input.tool}: ${why}; schema: ${cutText(schema, 4_000)}; you sent (first 800 chars): ${sent.slice(0, 800)}`,
  };
}

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
    return 'not a JSON object';
  } catch (error) {
    return messageOf(error);
  }
}

/** What a tool is given: everything it may need, nothing of Temporal. */
export function toolContext(input: CallToolInput, signal: AbortSignal, shown: { details: JsonValue }): ToolContext {
  const { log, info } = Context.current();
  return {
    runId: input.runId,
    turn: input.turn,
    callId: input.callId,
    idempotencyKey: input.key,
    attempt: info.attempt,
    ...(input.workspace === undefined ? {} : { workspace: input.workspace }),
    signal,
    heartbeat: (details) => {
      shown.details = details;
    },
    log: { info: (message) => log.info(message, { tool: input.tool }), warn: (message) => log.warn(message, { tool: input.tool }) },
  };
}

/** Puts an end into the message the model reads, and keeps it in this worker's cache. */
export function asResult(
  input: Pick<CallToolInput, 'callId' | 'turn'>,
  { cache }: Pick<CallToolOptions, 'cache'>,
  ended: Ended,
  durationMs: number,
): CallToolResult {
  const message: Message = {
    id: input.callId,
    role: 'tool',
    turn: input.turn,
    parts: [{ type: 'tool_result', callId: input.callId, isError: ended.outcome !== 'ok', parts: toolResultParts(ended.value) }],
  };
  const hash = hashMessage(message);
  cache.keepMessage(hash, message);
  return { message, hash, outcome: ended.outcome, durationMs };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
