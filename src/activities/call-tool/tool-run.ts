import { Context } from '@temporalio/activity';
import type { CallOutput } from '../../artifacts/call-output.js';
import type { CallToolInput, CallToolResult, HeartbeatDetails, StoppedDetails } from '../../contracts/activities.js';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart } from '../../contracts/schemas/message.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import { type AnyToolDefinition, isOutcomeUnknown, type ToolContext } from '../../define/define-tool.js';
import { CallSignal } from '../runtime/call-signal.js';
import { type CancellationCause, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { failure, messageOf } from '../runtime/failures.js';
import { maskParts } from '../runtime/mask-message.js';
import { ownershipOf } from '../runtime/ownership.js';
import { watchSignal } from '../runtime/watch-signal.js';
import { createAsk, createRequestCompletion } from './ask-run.js';
import { type CallToolOptions, callOutput, endedWith, hookedResult } from './hooked-result.js';
import { logThrown, strayLog } from './log-thrown.js';
import { toolArguments } from './parse-tool-arguments.js';
import { createExchange } from './run-exchange.js';
import type { CallWork } from './run-kept.js';
import { withStrayErrors } from './stray-errors.js';
import { type Running, toolContext } from './tool-context.js';
import type { Ended, ToolHooks } from './tool-hooks.js';
import { toolResultParts } from './tool-result-parts.js';

/** The state of one run of a tool. */
export interface ToolRunParts {
  readonly shown: { details: string };
  readonly hooks: ToolHooks;
  readonly startedMs: number;
  progress(): HeartbeatDetails;
}

/** One run of a tool, up to the result after its hooks. */
export class ToolRun implements CallWork {
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
    const running = { shown: this.#parts.shown, output, secrets, ...requestsOf(context, input, limit) };
    const execution = {
      args: parsed.args,
      context: toolContext(input, limit.signal, running),
      onThrown: (error: unknown): void => logThrown(input.tool, error, secrets),
      onStray: strayLog(input.tool, secrets),
    };
    const work = execute(tool, execution).then((given) => masked(given, secrets));
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

/** What the server of a call may request of the run meanwhile. */
function requestsOf(context: Context, input: CallToolInput, limit: CallSignal): Pick<Running, 'ask' | 'sampling'> {
  const { asks, samples } = input;
  if (!asks && !samples) return {};
  const exchange = createExchange(context, limit);
  return {
    ...(asks ? { ask: createAsk(input, exchange) } : {}),
    ...(samples ? { sampling: { bounds: samples, request: createRequestCompletion(input, exchange) } } : {}),
  };
}

type Executed =
  | { readonly kind: 'returned'; readonly parts: readonly ContentPart[] }
  | { readonly kind: 'threw'; readonly text: string /** The tool cannot know its outcome. */; readonly isUnknown?: boolean }
  | { readonly kind: 'abandoned' };

interface Execution {
  readonly args: unknown;
  readonly context: ToolContext;
  /** Receives what the tool threw on its own, not because it was stopped. */
  readonly onThrown: (error: unknown) => void;
  /** Receives what its code threw where nothing catches it. */
  readonly onStray: (error: unknown) => void;
}

async function execute(tool: AnyToolDefinition, { args, context, onThrown, onStray }: Execution): Promise<Executed> {
  const { value, ...rest } = await withStrayErrors(async (): Promise<Executed> => {
    try {
      // the arguments were parsed by this tool's own schema
      return { kind: 'returned', parts: toolResultParts(await tool.execute(args as never, context)) };
    } catch (error) {
      if (!context.signal.aborted) onThrown(error);
      return { kind: 'threw', text: errorText(error), isUnknown: isOutcomeUnknown(error) };
    }
  }, onStray);
  if (value.kind !== 'returned' || !('stray' in rest)) return value;
  return { kind: 'threw', text: `${STRAY}: ${errorText(rest.stray)}` };
}

const STRAY = 'the tool returned, but a part of it that it did not await failed; it may have taken partial effect';

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
  // a tool that was stopped, and cannot know what became of its request
  if (stop.timedOut && ended.isUnknown === true && input.effect === 'once') {
    return endedWith('unknown', `[outcome unknown] timed out after ${seconds(input.timeoutMs)}; ${text}`);
  }
  if (stop.timedOut) return endedWith('timeout', `timed out after ${seconds(input.timeoutMs)}: ${text}`);
  const isUnknown = ended.kind === 'threw' && ended.isUnknown === true && input.effect === 'once';
  return isUnknown ? endedWith('unknown', `[outcome unknown] ${text}`) : endedWith('failed', text);
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'tool failed without message' : text;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
