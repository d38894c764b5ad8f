import { Context } from '@temporalio/activity';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { CallOutput } from '../../artifacts/call-output.js';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart, Message } from '../../contracts/schemas/message.js';
import { cutText } from '../../contracts/text/redact.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { AnyToolDefinition, ToolContext } from '../../define/define-tool.js';
import { completeBounds } from '../../output/truncate-output.js';
import type { HookRunner } from '../hooks/hook-runner.js';
import { CallSignal } from '../runtime/call-signal.js';
import { type CancellationCause, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { failure } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { maskParts } from '../runtime/mask-message.js';
import { hashMessage } from '../transcript/message-hash.js';
import type { TranscriptCache } from '../transcript/transcript-cache.js';
import { toolArguments } from './parse-tool-arguments.js';
import { type Ended, ToolHooks } from './tool-hooks.js';
import { toolResultParts } from './tool-result-parts.js';

/** The dependencies of the activity. */
export interface CallToolOptions {
  readonly tools: ReadonlyMap<string, AnyToolDefinition>;
  readonly cache: TranscriptCache;
  /** The store for the whole text of cut outputs. */
  readonly artifacts: ArtifactStore;
  readonly hooks: HookRunner;
  readonly secrets: SecretMask;
}

/** Makes the activity `callTool`: runs one tool once. Every outcome is a result for the model. It throws only when its attempt is lost. */
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
        // the last heartbeat is stored in history: text that hooks may rewrite must not be in it
        lastText: hooks.rewrite ? '' : shown.details,
      }),
      async () => {
        const output = callOutput(input, hooks.storeFor(options.artifacts), options.secrets);
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

/** An ended call, and the parts for its result. */
export interface EndedCall {
  readonly ended: Ended;
  readonly output: CallOutput;
  readonly hooks: ToolHooks;
  readonly startedAt: number;
}

/** The result after the hooks, within the output limits. Text that hooks rewrite reaches neither history nor an artifact. */
export async function hookedResult(
  input: CallToolInput,
  options: CallToolOptions,
  { ended, output, hooks, startedAt }: EndedCall,
): Promise<CallToolResult> {
  const { abort, ...left } = await hooks.after(ended);
  const bounds = hooks.rewrite ? callOutput(input, options.artifacts, options.secrets) : output;
  const result = asResult(input, options, { ...left, parts: await bounds.bounded(left.parts) }, Date.now() - startedAt);
  return abort === undefined ? result : { ...result, abort };
}

/** The state that a running tool and its context share. */
export interface Running {
  /** The tool's own heartbeat details, for operators. */
  readonly shown: { details: string };
  readonly output: CallOutput;
}

async function runTool(input: CallToolInput, { tools, secrets }: CallToolOptions, running: Running): Promise<Ended> {
  if (input.unknownTool !== undefined) return endedWith('failed', input.unknownTool);
  const tool = tools.get(input.tool);
  if (!tool) return endedWith('failed', `the tool ${input.tool} is not available on this worker`);
  const parsed = toolArguments(input, tool);
  if ('problem' in parsed) return endedWith('failed', parsed.problem);
  const context = Context.current();
  refuseSecondStart(input, context);
  const limit = new CallSignal([context.cancellationSignal], input.timeoutMs);
  const work = execute(tool, parsed.args, toolContext(input, limit.signal, { ...running, secrets }));
  const ended = masked(await Promise.race([work, abandoned(limit.signal)]), secrets);
  limit.release();
  const cause = cancellationCause(context);
  if (ended.kind !== 'returned') throwUnlessUser(cause, `the tool ${input.tool}`);
  return judge(input, ended, { cause, timedOut: limit.timedOut });
}

/**
 * Temporal restarts an activity after an operator paused or reset it, whatever its retry policy. A `once` call with a trace of an earlier
 * start is not started again: the workflow reconciles it.
 */
function refuseSecondStart({ effect, tool }: CallToolInput, { info }: Context): void {
  if (effect !== 'once' || (info.attempt === 1 && info.heartbeatDetails === undefined)) return;
  throw failure('Worker.Died', `an earlier attempt of ${tool} reported no result`);
}

type Executed =
  | { readonly kind: 'returned'; readonly parts: readonly ContentPart[] }
  | { readonly kind: 'threw'; readonly text: string }
  | { readonly kind: 'abandoned' };

async function execute(tool: AnyToolDefinition, args: unknown, context: ToolContext): Promise<Executed> {
  try {
    // the arguments were parsed by this tool's own schema
    const value = await tool.execute(args as never, context);
    return { kind: 'returned', parts: toolResultParts(value) };
  } catch (error) {
    return { kind: 'threw', text: errorText(error) };
  }
}

/** What a tool gave, without secrets. Masked whole, because a cut could leave a part of a secret. */
function masked(ended: Executed, secrets: SecretMask): Executed {
  switch (ended.kind) {
    case 'returned':
      return { ...ended, parts: maskParts(ended.parts, secrets) };
    case 'threw':
      return { ...ended, text: secrets.text(ended.text) };
    case 'abandoned':
      return ended;
  }
}

/** Resolves some time after the signal: the outcome of a tool that ignores it is unknown. */
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
  // a tool that finished in spite of the abort has taken effect: its result counts
  if (ended.kind === 'returned') return { outcome: 'ok', parts: ended.parts };
  // the whole text: it is cut later, with a footer, and the end of a failed command's output matters most
  const text = ended.kind === 'threw' ? ended.text : 'it did not stop when it was cancelled';
  if (stop.cause === 'user') return endedWith('cancelled', `[cancelled] stopped while running; it may have taken partial effect. ${text}`);
  if (ended.kind === 'abandoned') return endedWith('unknown', `[outcome unknown] timed out after ${seconds(input.timeoutMs)}; ${text}`);
  if (stop.timedOut) return endedWith('timeout', `timed out after ${seconds(input.timeoutMs)}: ${text}`);
  return endedWith('failed', text);
}

function endedWith(outcome: ToolOutcome, text: string): Ended {
  return { outcome, parts: toolResultParts(text) };
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'tool failed without message' : text;
}

/** The context of a tool. It contains nothing of Temporal. */
export function toolContext(
  input: CallToolInput,
  signal: AbortSignal,
  { shown, output, secrets }: Running & { readonly secrets: SecretMask },
): ToolContext {
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
      // converted to text here: details that are not JSON fail the tool, not the worker's heartbeat timer
      const text = typeof details === 'string' ? details : (JSON.stringify(details) ?? '');
      shown.details = cutText(secrets.text(text), WORKER_LIMITS.heartbeatBytesMax / 2);
    },
    log: {
      info: (message) => log.info(secrets.text(message), { tool: input.tool }),
      warn: (message) => log.warn(secrets.text(message), { tool: input.tool }),
    },
  };
}

/** The output of one call, within the limits from the workflow. The worker's store keeps the whole text of a cut output. */
export function callOutput({ output, tool }: CallToolInput, store: ArtifactStore, secrets: SecretMask): CallOutput {
  const { log, cancellationSignal: signal } = Context.current();
  return new CallOutput(completeBounds(output), { store, signal, secrets, onProblem: (problem) => log.warn(problem, { tool }) });
}

/** Makes the result message and puts it into this worker's cache. A message that is too large is replaced by a failed result. */
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
      endedWith('failed', `the tool ran, but its result of ${bytes} bytes is too large to pass on`),
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
