import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CallModelInput, CallModelResult, HeartbeatDetails } from '../../contracts/activities.js';
import { MODEL_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { addUsage, NO_USAGE } from '../../contracts/models/usage.js';
import type { Message, Part } from '../../contracts/schemas/message.js';
import { Usage } from '../../contracts/schemas/model.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { ModelFacts } from '../../define/model-options.js';
import { attemptTimes } from '../../models/attempt-timeouts.js';
import type { ProviderFor } from '../../providers/access/provider-for.js';
import { ModelError, shownRequestId } from '../../providers/contract/model-error.js';
import type { ModelAnswer, StreamDelta } from '../../providers/contract/provider.js';
import { repairCalls } from '../../providers/transcript/parse-arguments.js';
import type { StreamSink } from '../../streams/stream.js';
import type { HookRunner } from '../hooks/hook-runner.js';
import type { LeavePlace, LedgerPlace, ProviderGates } from '../limits/provider-gate.js';
import type { SetupCache } from '../prepare/setup-cache.js';
import { CallSignal } from '../runtime/call-signal.js';
import { attemptSignal, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { failure, modelFailure } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { maskParts } from '../runtime/mask-message.js';
import { hashMessage, sha256 } from '../transcript/message-hash.js';
import { type ReadTranscriptOptions, readTranscript } from '../transcript/read-transcript.js';
import { ModelHooks } from './model-hooks.js';
import { buildModelRequest } from './model-request.js';
import { isRunOver } from './run-status.js';
import type { SharedCooldowns } from './shared-cooldowns.js';
import { StreamedAnswer } from './streamed-answer.js';
import { ThinkingBudget } from './thinking-budget.js';

/** The dependencies of the activity. */
export interface CallModelOptions {
  readonly transcripts: Pick<ReadTranscriptOptions, 'cache' | 'query'>;
  readonly setups: SetupCache;
  readonly providerFor: ProviderFor;
  readonly streams: StreamSink;
  readonly hooks: HookRunner;
  readonly cooldowns: SharedCooldowns;
  /** The places at providers with limits. @default none has limits */
  readonly places?: ProviderGates;
  /** The known facts of a model. @default none */
  readonly factsOf?: (model: string) => ModelFacts;
  /** @default 90 s */
  readonly idleMs?: number;
  readonly secrets: SecretMask;
}

/** Makes the activity `callModel`: one request, streamed to watchers, answered as data. On a cancel it returns the partial answer. */
export function createCallModel(options: CallModelOptions): (input: CallModelInput) => Promise<CallModelResult> {
  return (input) => {
    const { info } = Context.current();
    const hooks = new ModelHooks(options.hooks, input);
    const epoch = info.currentAttemptScheduledTimestampMs;
    const where = { runId: input.runId, turn: input.turn, attempt: info.attempt, epoch, isFinal: input.final === true };
    // streams are stored: text that hooks may rewrite must not be in them
    const { thinkingOutput = 'apart' } = input;
    // a completion for an MCP server is no part of the conversation that is watched
    const streamed = new StreamedAnswer(input.sampling ? NO_STREAM : options.streams, where, {
      isWithheld: hooks.rewrite,
      thinkingOutput,
      secrets: options.secrets,
    });
    const attempt: Attempt = { streamed, hooks, lost: usageIn(info.heartbeatDetails) };
    return withHeartbeat(
      'callModel',
      () => beat(attempt, streamed.estimate()),
      () => callModel(input, options, attempt),
    );
  };
}

const NO_STREAM: StreamSink = { publish: () => undefined, flush: () => Promise.resolve() };

/** The state of one attempt. */
interface Attempt {
  /** What the attempt waits for, while it waits for a place at the provider. */
  waitsFor?: string;
  readonly streamed: StreamedAnswer;
  readonly hooks: ModelHooks;
  /** The usage of earlier attempts of this call. */
  readonly lost: Usage;
}

async function callModel(input: CallModelInput, options: CallModelOptions, attempt: Attempt): Promise<CallModelResult> {
  const { streamed, hooks } = attempt;
  const context = Context.current();
  const { startToCloseTimeoutMs } = context.info;
  const startedAt = Date.now();
  const thinking = new ThinkingBudget(input.thinkingTokensMax);
  const limit = new CallSignal([attemptSignal(context), thinking.spent], input.waitMsMax ?? startToCloseTimeoutMs / 2);
  const { signal } = limit;
  let leave: LeavePlace | undefined;
  try {
    leave = await enter(input, options, { attempt, signal });
    // the wait for a place is no time of the model
    const startToCloseMs = startToCloseTimeoutMs - (input.waitMsMax ?? Date.now() - startedAt);
    const times = attemptTimes(input.times, { idleMs: options.idleMs, startToCloseMs });
    limit.restart(times.totalMs);
    const setup = await options.setups.get(input.setupHash, input, { signal });
    const messages = input.sampling ? [] : await readTranscript(input, { ...options.transcripts, signal });
    options.cooldowns.refuseCooling(input);
    const { provider, model } = options.providerFor(input.model, input.credential);
    const facts = options.factsOf?.(input.model) ?? {};
    const onDelta = (delta: StreamDelta): void => {
      streamed.add(delta);
      thinking.add(delta);
    };
    const over = (): Promise<boolean> => isRunOver(context.client, input.runId);
    const built = buildModelRequest(input, { model, facts, setup, messages, times, signal, isRunOver: over, onDelta });
    const request = await hooks.before(setup.agent, built);
    streamed.requested(request);
    const given = await provider.call(request);
    const answer = { ...given, parts: maskParts(given.parts, options.secrets) };
    options.cooldowns.answered(input);
    const parts = await hooks.after(answer.parts, signal, answer.usage ?? streamed.estimate());
    streamed.showWithheld(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));
    return completeAnswer(input, options, { ...answer, parts }, attempt);
  } catch (error) {
    const cause = cancellationCause(context);
    throwUnlessUser(cause, 'a model call', beat(attempt, streamed.estimate()));
    if (cause === 'user') return await interrupted(input, options, attempt);
    // the next attempt starts with the usage of this one, so that no usage is lost
    context.heartbeat(beat(attempt, streamed.spent()));
    const problem = failureOf(error, { attempt, timedOut: limit.timedOut, thinking });
    options.cooldowns.failed(input, problem, context.info.attempt);
    throw problem;
  } finally {
    leave?.();
    limit.release();
    await streamed.end();
  }
}

/** Waits for a place at the provider, if it has limits; heartbeats show what the attempt waits for. */
async function enter(
  { model }: CallModelInput,
  { places }: CallModelOptions,
  { attempt, signal }: { readonly attempt: Attempt; readonly signal: AbortSignal },
): Promise<LeavePlace | undefined> {
  const context = Context.current();
  const at = (): LedgerPlace => ({ client: context.client, taskQueue: context.info.taskQueue });
  const onWait = (what: string): void => {
    attempt.waitsFor = what;
  };
  const leave = await places?.enter(model, { at, signal, onWait });
  delete attempt.waitsFor;
  return leave;
}

/** The failure of an attempt. A timeout and a spent thinking budget come first, because providers report an abort in different ways. */
function failureOf(
  error: unknown,
  { attempt, timedOut, thinking }: { readonly attempt: Attempt; readonly timedOut: boolean; readonly thinking: ThinkingBudget },
): ApplicationFailure {
  const { streamed, lost, waitsFor } = attempt;
  if (timedOut && waitsFor !== undefined) return failure('Model.RateLimited', `no place in time, ${waitsFor}`, { nonRetryable: true });
  if (timedOut) {
    const tooLong = new ModelError('Model.Timeout', 'the model call exceeded the time limit of a turn', { cause: error });
    return modelFailure(tooLong, addUsage(lost, streamed.spent()));
  }
  if (thinking.spent.aborted) return failure('Model.ThinkingBudget', thinking.problem, { details: [beat(attempt, streamed.estimate())] });
  // the failure of a refused answer contains its usage
  const reported = error instanceof ApplicationFailure ? usageIn(error.details?.[0]) : NO_USAGE;
  return modelFailure(error, addUsage(lost, isSome(reported) ? reported : streamed.spent()));
}

function completeAnswer(
  input: CallModelInput,
  options: CallModelOptions,
  answer: ModelAnswer,
  { streamed, lost }: Attempt,
): CallModelResult {
  const own = ownCallIds(input, answer.parts);
  // a call that the output limit cut is never repaired
  const { parts, repaired } = answer.stop === 'length' ? { parts: own, repaired: 0 } : repairCalls(own, answer);
  const message: Message = { id: messageId(input), role: 'assistant', turn: input.turn, parts };
  const usage = answer.usage ?? streamed.estimate();
  if (Buffer.byteLength(JSON.stringify(message)) > MODEL_LIMITS.answerBytesMax) {
    const text = `the model's answer is larger than ${MODEL_LIMITS.answerBytesMax} bytes`;
    throw failure('Model.BadResponse', text, { details: [{ usage }], nonRetryable: true });
  }
  const hash = hashMessage(message);
  options.transcripts.cache.keepMessage(hash, message);
  return {
    kind: 'answer',
    message,
    hash,
    usage,
    ...(answer.usage ? {} : { usageEstimated: true }),
    ...(isSome(lost) ? { lost } : {}),
    stop: answer.stop,
    ...(answer.requestId === undefined ? {} : { requestId: shownRequestId(answer.requestId) }),
    ...(repaired === 0 ? {} : { repaired }),
  };
}

/** The result after a cancel: the partial answer. */
async function interrupted(input: CallModelInput, options: CallModelOptions, { streamed, hooks, lost }: Attempt): Promise<CallModelResult> {
  const usage = addUsage(lost, streamed.estimate());
  const text = await hooks.partial(streamed.settle().slice(0, PAYLOAD_LIMITS.outsideBytesMax / 2));
  if (text === '') return { kind: 'interrupted', usage };
  streamed.showWithheld(text);
  const message: Message = {
    id: messageId(input),
    role: 'assistant',
    turn: input.turn,
    partial: true,
    parts: [{ type: 'text', text: cleanText(text) }],
  };
  const hash = hashMessage(message);
  options.transcripts.cache.keepMessage(hash, message);
  return { kind: 'interrupted', partial: { message, hash }, usage };
}

/** Replaces the provider's call ids, which may repeat within a turn or be invalid for the next provider. */
function ownCallIds(input: CallModelInput, parts: readonly Part[]): Part[] {
  let index = 0;
  return parts
    .filter((part) => part.type !== 'tool_call' || !input.final)
    .map((part) => {
      if (part.type === 'text' || part.type === 'thinking') return { ...part, text: cleanText(part.text) };
      if (part.type !== 'tool_call') return part;
      const callId = `${messageId(input)}_${index}`;
      index += 1;
      return { ...part, callId };
    });
}

/** A message id that is unique across a run and the runs it continues, because it contains a hash of the execution id. */
function messageId({ executionId, turn, final, sampling }: CallModelInput): string {
  return `${sha256(JSON.stringify(executionId)).slice(0, 6)}_${turn}${final ? '_final' : ''}${sampling ? '_sampling' : ''}`;
}

/** The heartbeat details. The last heartbeat is stored in history, so it contains no text that hooks may rewrite. */
function beat({ streamed, hooks, lost, waitsFor }: Attempt, used: Usage): HeartbeatDetails & { readonly usage: Usage } {
  const { lastText, ...progress } = streamed.progress();
  return {
    ...progress,
    ...(hooks.rewrite || lastText === undefined ? {} : { lastText }),
    ...(waitsFor === undefined ? {} : { phase: waitsFor }),
    usage: addUsage(lost, used),
  };
}

function isSome({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens + outputTokens > 0;
}

/** The usage in the details of the previous attempt's last heartbeat; none when it contains none. */
function usageIn(details: unknown): Usage {
  if (details === null || typeof details !== 'object' || !('usage' in details)) return NO_USAGE;
  return Usage.safeParse(details.usage).data ?? NO_USAGE;
}
