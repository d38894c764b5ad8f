import { Context } from '@temporalio/activity';
import type { CallModelInput, CallModelResult, HeartbeatDetails } from '../contracts/activities.js';
import { hashJson, hashMessage } from '../contracts/digest.js';
import { MODEL_LIMITS, PAYLOAD_LIMITS } from '../contracts/limits.js';
import { cleanText, type Message, type Part } from '../contracts/message.js';
import type { Usage } from '../contracts/model.js';
import type { StreamSink } from '../streams/stream-sink.js';
import { type CancellationCause, cancellationCause, throwUnlessUser } from './cancellation.js';
import { failure, modelFailure } from './failures.js';
import { withHeartbeat } from './heartbeat.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from './providers/provider.js';
import { type ReadTranscriptOptions, readTranscript } from './read-transcript.js';
import type { SetupCache } from './run-setup.js';
import { StreamedAnswer } from './streamed-answer.js';

/** What the activity needs of its worker. */
export interface CallModelOptions {
  readonly transcripts: Pick<ReadTranscriptOptions, 'cache' | 'query'>;
  readonly setups: SetupCache;
  readonly providerFor: (model: string) => { readonly provider: ModelProvider; readonly model: string };
  readonly streams: StreamSink;
  /** @default 90 s */
  readonly idleMs?: number;
}

/** Makes the activity `callModel`: one request, streamed to watchers, answered as data. On a user's cancel it returns what there was. */
export function createCallModel(options: CallModelOptions): (input: CallModelInput) => Promise<CallModelResult> {
  return (input) => {
    const streamed = new StreamedAnswer(options.streams, input, Context.current().info.attempt);
    return withHeartbeat(
      'callModel',
      () => beat(streamed),
      () => callModel(input, options, streamed),
    );
  };
}

async function callModel(input: CallModelInput, options: CallModelOptions, streamed: StreamedAnswer): Promise<CallModelResult> {
  const context = Context.current();
  const signal = AbortSignal.any([context.cancellationSignal, AbortSignal.timeout(totalMs(context))]);
  try {
    const setup = await options.setups.get(input.setupHash, input);
    const messages = await readTranscript(input, { ...options.transcripts, signal });
    const { provider, model } = options.providerFor(input.model);
    const request: ModelRequest = {
      model,
      prompt: setup.prompt,
      messages: [...messages, ...input.requestOnly],
      tools: setup.tools,
      toolChoice: input.toolChoice,
      outputTokensMax: input.outputTokensMax ?? MODEL_LIMITS.outputTokensDefault,
      signal,
      idleMs: options.idleMs ?? MODEL_LIMITS.streamIdleMs,
      onDelta: (delta) => streamed.add(delta),
    };
    streamed.asked(request);
    return completeAnswer(input, options, await provider.call(request), streamed);
  } catch (error) {
    return interruptedOrThrow(input, options, streamed, error, cancellationCause(context));
  } finally {
    await streamed.end();
  }
}

function completeAnswer(input: CallModelInput, options: CallModelOptions, answer: ModelAnswer, streamed: StreamedAnswer): CallModelResult {
  const message: Message = { id: messageId(input), role: 'assistant', turn: input.turn, parts: ownCallIds(input, answer.parts) };
  if (Buffer.byteLength(JSON.stringify(message)) > MODEL_LIMITS.answerBytesMax) {
    throw failure('Model.BadResponse', `the model's answer is larger than ${MODEL_LIMITS.answerBytesMax} bytes`, { nonRetryable: true });
  }
  const hash = hashMessage(message);
  options.transcripts.cache.keepMessage(hash, message);
  return {
    kind: 'answer',
    message,
    hash,
    usage: answer.usage ?? streamed.estimate(),
    ...(answer.usage ? {} : { usageEstimated: true }),
    stop: answer.stop,
    ...(answer.requestId === undefined ? {} : { requestId: answer.requestId }),
  };
}

/** A user's cancel is a return; a shutdown, a pause or a failing model is thrown for Temporal and the workflow to judge. */
function interruptedOrThrow(
  input: CallModelInput,
  options: CallModelOptions,
  streamed: StreamedAnswer,
  error: unknown,
  cause: CancellationCause,
): CallModelResult {
  throwUnlessUser(cause, 'a model call');
  if (cause === 'none') {
    if (isTotalTimeout(error)) throw failure('Model.Timeout', 'the model call took longer than a turn may');
    throw modelFailure(error);
  }
  const text = streamed.text.slice(0, PAYLOAD_LIMITS.outsideBytesMax / 2);
  if (text === '') return { kind: 'interrupted', usage: streamed.estimate() };
  const message: Message = {
    id: messageId(input),
    role: 'assistant',
    turn: input.turn,
    partial: true,
    parts: [{ type: 'text', text: cleanText(text) }],
  };
  const hash = hashMessage(message);
  options.transcripts.cache.keepMessage(hash, message);
  return { kind: 'interrupted', partial: { message, hash }, usage: streamed.estimate() };
}

/** Our own ids for calls: a provider's may repeat within a turn or be illegal for the next provider (M22, B34). */
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

/** Unique over a run and the runs it continues: the execution is in it. */
function messageId({ executionId, turn, final }: CallModelInput): string {
  return `${hashJson(executionId).slice(0, 6)}_${turn}${final ? '_final' : ''}`;
}

function totalMs(context: Context): number {
  return Math.max(1_000, context.info.startToCloseTimeoutMs - MODEL_LIMITS.turnTimeoutMarginMs);
}

function isTotalTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function beat(streamed: StreamedAnswer): HeartbeatDetails & { readonly usage: Usage } {
  return { ...streamed.progress(), usage: streamed.estimate() };
}
