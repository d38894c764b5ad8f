import { Context } from '@temporalio/activity';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { CallOutput } from '../../artifacts/call-output.js';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { hashMessage } from '../../contracts/digest.js';
import type { ContentPart, Message } from '../../contracts/schemas/message.js';
import { cutText } from '../../contracts/text/redact.js';
import type { AnyToolDefinition, ToolContext } from '../../define/define-tool.js';
import { completeBounds } from '../../output/truncate-output.js';
import type { HookRunner } from '../hooks/hook-runner.js';
import { type CancellationCause, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { failure } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import type { TranscriptCache } from '../transcript/transcript-cache.js';
import { toolArguments } from './parse-tool-arguments.js';
import { type Ended, ToolHooks } from './tool-hooks.js';
import { toolResultParts } from './tool-result-parts.js';

/** What the activity needs of its worker. */
export interface CallToolOptions {
  readonly tools: ReadonlyMap<string, AnyToolDefinition>;
  readonly cache: TranscriptCache;
  /** Where the whole of a cut output is kept. */
  readonly artifacts: ArtifactStore;
  readonly hooks: HookRunner;
}

/** Makes the activity `callTool`: one start of one tool, its end always a result the model reads. Throws only when its worker goes. */
export function createCallTool(options: CallToolOptions): (input: CallToolInput) => Promise<CallToolResult> {
  return (input) => {
    const shown = { details: '' };
    const startedAt = Date.now();
    const hooks = new ToolHooks(options.hooks, input);
    return withHeartbeat(
      input.tool,
      () => ({
        phase: 'tool',
        elapsedMs: Date.now() - startedAt,
        // a last heartbeat goes into history: words that hooks may rewrite are not in it
        lastText: hooks.rewrite ? '' : shown.details,
      }),
      async () => {
        const output = callOutput(input, hooks.storeFor(options.artifacts));
        try {
          const ended = await runTool(input, options, { shown, output });
          return await hookedResult(input, options, { ended, output, hooks, startedAt });
        } finally {
          output.close();
        }
      },
    );
  };
}

/** A call that ended, and what is needed to make its result. */
export interface EndedCall {
  readonly ended: Ended;
  readonly output: CallOutput;
  readonly hooks: ToolHooks;
  readonly startedAt: number;
}

/** The result as the hooks after the tool leave it, within the bounds: what they rewrite reaches neither history nor an artifact. */
export async function hookedResult(
  input: CallToolInput,
  options: CallToolOptions,
  { ended, output, hooks, startedAt }: EndedCall,
): Promise<CallToolResult> {
  const { abort, ...left } = await hooks.after(ended);
  const bounds = hooks.rewrite ? callOutput(input, options.artifacts) : output;
  const result = asResult(input, options, { ...left, parts: await bounds.bounded(left.parts) }, Date.now() - startedAt);
  return abort === undefined ? result : { ...result, abort };
}

/** What the tool and its context share while it runs. */
export interface Running {
  /** What operators are shown. */
  readonly shown: { details: string };
  readonly output: CallOutput;
}

async function runTool(input: CallToolInput, { tools }: CallToolOptions, running: Running): Promise<Ended> {
  if (input.unknownTool !== undefined) return saying('failed', input.unknownTool);
  const tool = tools.get(input.tool);
  if (!tool) return saying('failed', `the tool ${input.tool} is not available on this worker`);
  const parsed = toolArguments(input, tool);
  if ('problem' in parsed) return saying('failed', parsed.problem);
  const context = Context.current();
  refuseSecondStart(input, context);
  const timeout = AbortSignal.timeout(input.timeoutMs);
  const signal = AbortSignal.any([context.cancellationSignal, timeout]);
  const work = execute(tool, parsed.args, toolContext(input, signal, running));
  const ended = await Promise.race([work, abandoned(signal)]);
  const cause = cancellationCause(context);
  if (ended.kind !== 'returned') throwUnlessUser(cause, `the tool ${input.tool}`);
  return judge(input, ended, { cause, timedOut: timeout.aborted });
}

/**
 * Temporal starts an activity again after an operator paused or reset it, whatever its retry policy says. A `once` call whose earlier
 * start left a trace is not started: the workflow looks what became of it.
 */
function refuseSecondStart({ effect, tool }: CallToolInput, { info }: Context): void {
  if (effect !== 'once' || (info.attempt === 1 && info.heartbeatDetails === undefined)) return;
  throw failure('Worker.Died', `an earlier start of ${tool} never reported`);
}

type Executed =
  | { readonly kind: 'returned'; readonly parts: readonly ContentPart[] }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'abandoned' };

async function execute(tool: AnyToolDefinition, args: unknown, context: ToolContext): Promise<Executed> {
  try {
    // the arguments were parsed by this tool's own schema
    const value = await tool.execute(args as never, context);
    return { kind: 'returned', parts: toolResultParts(value) };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** Resolves a while after the signal: a tool that ignores it is given up as unknown. */
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
  if (ended.kind === 'returned') return { outcome: 'ok', parts: ended.parts };
  // the whole text: what the model reads is cut with a footer later, and a failed command says most at its end
  const said = ended.kind === 'threw' ? errorText(ended.error) : 'it did not stop when told to';
  if (stop.cause === 'user') return saying('cancelled', `[cancelled] stopped while running; it may have taken partial effect. ${said}`);
  if (ended.kind === 'abandoned') return saying('unknown', `[outcome unknown] timed out after ${seconds(input.timeoutMs)}; ${said}`);
  if (stop.timedOut) return saying('timeout', `timed out after ${seconds(input.timeoutMs)}: ${said}`);
  return saying('failed', said);
}

function saying(outcome: ToolOutcome, text: string): Ended {
  return { outcome, parts: toolResultParts(text) };
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'tool failed without message' : text;
}

/** What a tool is given: everything it may need, nothing of Temporal. */
export function toolContext(input: CallToolInput, signal: AbortSignal, { shown, output }: Running): ToolContext {
  const { log, info } = Context.current();
  return {
    runId: input.runId,
    turn: input.turn,
    callId: input.callId,
    idempotencyKey: input.key,
    attempt: info.attempt,
    ...(input.workspace === undefined ? {} : { workspace: input.workspace }),
    signal,
    output,
    heartbeat: (details) => {
      // made to text here: what is no JSON fails the tool that gave it, not the worker's timer
      shown.details = cutText(JSON.stringify(details) ?? '', WORKER_LIMITS.heartbeatBytesMax / 2);
    },
    log: { info: (message) => log.info(message, { tool: input.tool }), warn: (message) => log.warn(message, { tool: input.tool }) },
  };
}

/** The text of one call, within the bounds that the workflow gave; what is cut is kept by the worker's store. */
export function callOutput({ output, tool }: CallToolInput, store: ArtifactStore): CallOutput {
  const { log, cancellationSignal: signal } = Context.current();
  return new CallOutput(completeBounds(output), { store, signal, onProblem: (problem) => log.warn(problem, { tool }) });
}

/** Puts an end into the message the model reads, and keeps it in this worker's cache. What is too large for a message is said instead. */
function asResult(
  input: Pick<CallToolInput, 'callId' | 'turn'>,
  { cache }: Pick<CallToolOptions, 'cache'>,
  ended: Ended,
  durationMs: number,
): CallToolResult {
  const message: Message = {
    id: input.callId,
    role: 'tool',
    turn: input.turn,
    parts: [{ type: 'tool_result', callId: input.callId, isError: ended.outcome !== 'ok', parts: [...ended.parts] }],
  };
  const bytes = Buffer.byteLength(JSON.stringify(message));
  if (bytes > PAYLOAD_LIMITS.messageBytesMax) {
    return asResult(
      input,
      { cache },
      saying('failed', `the tool ran, but its result of ${bytes} bytes is too large to pass on`),
      durationMs,
    );
  }
  const hash = hashMessage(message);
  cache.keepMessage(hash, message);
  return { message, hash, outcome: ended.outcome, durationMs };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
