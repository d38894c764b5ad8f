import type Anthropic from '@anthropic-ai/sdk';
import type { Stream } from '@anthropic-ai/sdk/core/streaming';
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { Part } from '../../contracts/schemas/message.js';
import type { StopReason } from '../../contracts/schemas/model.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelRequest, ProviderSettings } from '../contract/provider.js';
import { toModelError } from '../errors/classify-error.js';
import type { GuardedFetch } from '../http/guarded-fetch.js';
import { readEvents } from '../http/read-stream.js';
import { refuseLostCall } from '../transcript/decode-calls.js';
import { toAnthropicBody } from './body.js';
import { AnthropicStream } from './stream.js';

/** Whom one request goes to, and how. */
export interface AnthropicEndpoint extends Pick<ProviderSettings, 'quirks'> {
  /** A client of one of the official packages: its requests go through the guard, once. */
  readonly client: Pick<Anthropic, 'post'>;
  readonly guard: GuardedFetch;
  /** Kept out of errors. */
  readonly apiKey: string;
  /** Any JSON that names the server and the account: thinking that one made is not sent to another. */
  readonly account: unknown;
}

/** Makes one request of the messages API and reads its answer. Rejects as a provider's `call` does, and ends the guard. */
export async function callAnthropic(request: ModelRequest, endpoint: AnthropicEndpoint): Promise<ModelAnswer> {
  const { client, guard, apiKey, account, quirks = {} } = endpoint;
  try {
    const { body, names, after } = toAnthropicBody(request, { quirks, account });
    // `messages.create` asks the same, but first prints its own word on old models to the console, past any logger
    const { data, request_id } = await client
      .post<Stream<RawMessageStreamEvent>>('/v1/messages', { body, stream: true, signal: request.signal, maxRetries: 0 })
      .withResponse();
    const { onDelta, model } = request;
    const reader = new AnthropicStream({ onDelta, strictTerminal: quirks.strictTerminal ?? true, model, names, after });
    await readEvents(data, reader, { guard, signal: request.signal });
    return completeAnswer(reader, request_id ?? null);
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error, apiKey);
  } finally {
    guard.release();
  }
}

function completeAnswer(reader: AnthropicStream, requestId: string | null): ModelAnswer {
  const details = requestId === null ? {} : { requestId };
  if (reader.events === 0) throw new ModelError('Model.EmptyStream', 'the response stream is empty', details);
  if (!reader.isComplete()) throw new ModelError('Model.StreamTruncated', 'the response ended before its message_stop', details);
  const parts = reader.parts();
  if (reader.stopReason === 'tool_use') refuseLostCall(parts, details);
  const usage = reader.usage();
  return { parts, stop: toStop(reader.stopReason ?? '', parts), ...(usage ? { usage } : {}), ...details };
}

function toStop(reason: string, parts: readonly Part[]): StopReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'refusal';
    case 'pause_turn':
      return 'paused';
    default:
      return parts.some(({ type }) => type === 'tool_call') ? 'tool_calls' : 'end';
  }
}
