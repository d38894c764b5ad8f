import { Context } from '@temporalio/activity';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { CallOutput } from '../../artifacts/call-output.js';
import type { CallToolInput, CallToolResult, HeartbeatDetails, StoppedDetails, ToolOutcome } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { filesProblem } from '../../contracts/files/file-problem.js';
import type { ContentPart, Message } from '../../contracts/schemas/message.js';
import { cutText } from '../../contracts/text/redact.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { AnyToolDefinition, ToolContext } from '../../define/define-tool.js';
import { completeBounds } from '../../output/truncate-output.js';
import type { HookRunner } from '../hooks/hook-runner.js';
import { CallSignal } from '../runtime/call-signal.js';
import { type CancellationCause, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { failure, messageOf } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { maskParts } from '../runtime/mask-message.js';
import { ownershipOf } from '../runtime/ownership.js';
import { steadyMs } from '../runtime/steady-clock.js';
import { watchSignal } from '../runtime/watch-signal.js';
import { hashMessage } from '../transcript/message-hash.js';
import type { TranscriptCache } from '../transcript/transcript-cache.js';
import type { KeptResults } from './kept-results.js';
import { toolArguments } from './parse-tool-arguments.js';
import { type CallWork, runKept } from './run-kept.js';
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
  /** The results of finished calls, for those that the server did not take. */
  readonly results: KeptResults;
  /** The queue of this host, if several hosts share a task queue. */
  readonly queue?: string;
}

/**
 * Makes the activity `callTool`: runs one tool once. Every outcome is a result for the model. It throws only when its attempt is lost. A
 * call whose result is kept on this host is answered with it, and does not run again.
 */
export function createCallTool(options: CallToolOptions): (input: CallToolInput) => Promise<CallToolResult> {
  return (input) => {
    const shown = { details: '' };
    const startedMs = steadyMs();
    const hooks = new ToolHooks(options.hooks, input);
    const progress = (): HeartbeatDetails => ({
      phase: 'tool',
      elapsedMs: Math.round(steadyMs() - startedMs),
      // the last heartbeat is stored in history: text that hooks may rewrite must not be in it
      lastText: hooks.rewrite ? '' : shown.details,
      ...(options.queue === undefined ? {} : { queue: options.queue }),
    });
    const call = new ToolRun(input, options, { shown, hooks, startedMs, progress });
    // a `read` call may run again: nothing of it needs to be kept
    return withHeartbeat(input.tool, progress, () => (input.effect === 'read' ? call.run() : runKept(input, options, call)));
  };
}

interface ToolRunParts {
  readonly shown: { details: string };
  readonly hooks: ToolHooks;
  readonly startedMs: number;
  progress(): HeartbeatDetails;
}

/** One run of a tool, up to the result after its hooks. */
class ToolRun implements CallWork {
  readonly #input: CallToolInput;
  readonly #options: CallToolOptions;
  readonly #parts: ToolRunParts;
  #abandoned: Promise<Executed> | undefined;

  constructor(input: CallToolInput, options: CallToolOptions, parts: ToolRunParts) {
    this.#input = input;
    this.#options = options;
    this.#parts = parts;
  }

  run(): Promise<CallToolResult> {
    return this.#withOutput(async (output) => await this.#complete(await this.#runTool(output), output));
  }

  late(): Promise<CallToolResult | undefined> | undefined {
    return this.#abandoned?.then((ended) => {
      if (ended.kind !== 'returned') return undefined;
      const { parts } = ended;
      return this.#withOutput((output) => this.#complete({ outcome: 'ok', parts }, output));
    });
  }

  async #withOutput(work: (output: CallOutput) => Promise<CallToolResult>): Promise<CallToolResult> {
    const output = callOutput(this.#input, this.#parts.hooks.storeFor(this.#options.artifacts), this.#options.secrets);
    try {
      return await work(output);
    } finally {
      output.close();
    }
  }

  #complete(ended: Ended, output: CallOutput): Promise<CallToolResult> {
    const { hooks, startedMs } = this.#parts;
    return hookedResult(this.#input, this.#options, { ended, output, hooks, startedMs });
  }

  async #runTool(output: CallOutput): Promise<Ended> {
    const input = this.#input;
    if (input.unknownTool !== undefined) return endedWith('failed', input.unknownTool);
    const tool = this.#options.tools.get(input.tool);
    if (!tool) return endedWith('failed', `the tool ${input.tool} is not available on this worker`);
    const parsed = toolArguments(input, tool);
    if ('problem' in parsed) return endedWith('failed', parsed.problem);
    const context = Context.current();
    this.#refuseSecondStart(context);
    await this.#confirmStart(context);
    const { secrets } = this.#options;
    const limit = toolLimit(context, input.timeoutMs);
    const running = { shown: this.#parts.shown, output, secrets };
    const work = execute(tool, parsed.args, toolContext(input, limit.signal, running)).then((ended) => masked(ended, secrets));
    const ended = await Promise.race([work, abandoned(limit.signal)]);
    limit.release();
    const cause = cancellationCause(context);
    if (ended.kind === 'abandoned') this.#abandoned = work;
    if (ended.kind !== 'returned') {
      throwUnlessUser(cause, `the tool ${input.tool}`, { ...this.#parts.progress(), ended: ended.kind === 'threw' });
    }
    return judge(input, ended, { cause, timedOut: limit.timedOut });
  }

  /**
   * Temporal restarts an activity after an operator paused or reset it, whatever its retry policy. A `once` call with a trace of an earlier
   * start is not started again: the workflow reconciles it.
   */
  #refuseSecondStart({ info }: Context): void {
    const { effect, tool } = this.#input;
    if (effect !== 'once' || (info.attempt === 1 && info.heartbeatDetails === undefined)) return;
    // nothing proves that the earlier attempt has ended
    const details: StoppedDetails = { ...this.#parts.progress(), why: 'unreachable' };
    throw failure('Worker.Shutdown', `an earlier attempt of ${tool} reported no result`, { details: [details] });
  }

  /** A call that may have an effect does not start from an old task: this process may have been suspended before the start. */
  async #confirmStart(context: Context): Promise<void> {
    const { effect, tool } = this.#input;
    if (effect === 'read') return;
    try {
      await ownershipOf(context)?.confirmStart();
    } catch (error) {
      const details = { ...this.#parts.progress(), ended: true, why: 'lost contact' } satisfies StoppedDetails;
      throwUnlessUser(cancellationCause(context), `the tool ${tool}`, details);
      throw failure('Worker.Shutdown', `the tool ${tool} was not started: ${messageOf(error)}`, { details: [details] });
    }
  }
}

/** The signal of a tool: aborted by a cancel, by its timeout, and when the attempt is lost. */
function toolLimit(context: Context, timeoutMs: number): CallSignal {
  const ownership = ownershipOf(context);
  const limit = new CallSignal([context.cancellationSignal, ...(ownership ? [ownership.signal] : [])], timeoutMs);
  if (ownership) watchSignal(limit.signal, () => ownership.check());
  return limit;
}

/** An ended call, and the parts for its result. */
export interface EndedCall {
  readonly ended: Ended;
  readonly output: CallOutput;
  readonly hooks: ToolHooks;
  /** The start, on the clock of `steadyMs`. */
  readonly startedMs: number;
}

/** The result after the hooks, within the output limits. Text that hooks rewrite reaches neither history nor an artifact. */
export async function hookedResult(
  input: CallToolInput,
  options: CallToolOptions,
  { ended, output, hooks, startedMs }: EndedCall,
): Promise<CallToolResult> {
  const { abort, ...left } = await hooks.after(ended);
  const bounds = hooks.rewrite ? callOutput(input, options.artifacts, options.secrets) : output;
  // the beginning of an error says what failed
  const keep = left.outcome === 'ok' ? undefined : 'head-tail';
  const parts = await bounds.bounded(left.parts, keep);
  const result = asResult(input, options, { ...left, parts }, Math.round(steadyMs() - startedMs));
  return abort === undefined ? result : { ...result, abort };
}

/** The state that a running tool and its context share. */
export interface Running {
  /** The tool's own heartbeat details, for operators. */
  readonly shown: { details: string };
  readonly output: CallOutput;
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
  const context = Context.current();
  const { log, info } = context;
  return {
    runId: input.runId,
    turn: input.turn,
    callId: input.callId,
    idempotencyKey: input.key,
    attempt: info.attempt,
    ...(input.workspace === undefined ? {} : { workspace: input.workspace }),
    signal,
    assertOwned: async () => await ownershipOf(context)?.confirm(),
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

/** Makes the result message and puts it into this worker's cache. A message that is too large, or has an invalid image, is replaced by a failed result. */
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
  const problem = filesProblem(ended.parts);
  if (problem !== undefined) {
    return asResult(input, { cache }, endedWith('failed', `the tool ran, but its result is refused: ${problem}`), durationMs);
  }
  const hash = hashMessage(message);
  cache.keepMessage(hash, message);
  return { message, hash, outcome: ended.outcome, durationMs };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
