import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming, RawMessageStreamEvent, ToolChoice } from '@anthropic-ai/sdk/resources/messages';
import type { StopReason } from '../../contracts/model.js';
import { toAnthropicMessages } from './anthropic-messages.js';
import { AnthropicStream } from './anthropic-stream.js';
import { guardedFetch } from './guarded-fetch.js';
import { ModelError } from './model-error.js';
import { toModelError } from './model-failure.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.js';
import { SDK_TIMEOUT_MS, SILENT_LOGGER } from './sdk-settings.js';

/** Where a messages server is. */
export interface AnthropicSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** False for proxies that never send `message_stop`: the stop reason alone then completes an answer. @default true */
  readonly strictTerminal?: boolean;
}

/** A provider for Anthropic's messages API and servers that speak it. */
export function createAnthropicProvider(settings: AnthropicSettings): ModelProvider {
  return { call: (request) => callAnthropic(settings, request) };
}

async function callAnthropic(settings: AnthropicSettings, request: ModelRequest): Promise<ModelAnswer> {
  const guard = guardedFetch({ idleMs: request.idleMs, headers: { 'x-api-key': settings.apiKey } });
  try {
    const client = new Anthropic({
      apiKey: settings.apiKey,
      baseURL: settings.baseUrl,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      fetch: guard.fetch,
      logger: SILENT_LOGGER,
      logLevel: 'off',
    });
    const { data, request_id } = await client.messages.create(toBody(request), { signal: request.signal, maxRetries: 0 }).withResponse();
    return await readStream(data, request_id ?? null, settings, request, () => guard.failure());
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error);
  } finally {
    guard.release();
  }
}

function toBody(request: ModelRequest): MessageCreateParamsStreaming {
  const tools = request.tools.map(({ name, description, schema }) => ({
    name,
    description,
    input_schema: { ...schema, type: 'object' as const },
  }));
  return {
    model: request.model,
    max_tokens: request.outputTokensMax,
    system: request.prompt,
    messages: toAnthropicMessages(request.messages),
    stream: true,
    ...(tools.length > 0 ? { tools, tool_choice: toolChoice(request) } : {}),
  };
}

function toolChoice({ toolChoice }: ModelRequest): ToolChoice {
  return { type: toolChoice === 'required' ? 'any' : toolChoice };
}

/** Complete means: `message_stop` seen, a stop reason, and every started block stopped (faults 3.3 a). */
async function readStream(
  stream: AsyncIterable<RawMessageStreamEvent>,
  requestId: string | null,
  settings: AnthropicSettings,
  request: ModelRequest,
  guardFailure: () => ModelError | undefined,
): Promise<ModelAnswer> {
  const read = new AnthropicStream(request.onDelta);
  for await (const event of stream) read.add(event);
  // an abort ends the SDK's loop without an error, so it is looked at before the answer is
  request.signal.throwIfAborted();
  const failure = guardFailure();
  if (failure) throw failure;
  const details = requestId === null ? {} : { requestId };
  if (read.events === 0) throw new ModelError('Model.EmptyStream', 'the model answered with an empty stream', details);
  const ended = read.stopReason !== undefined && !read.hasOpenBlock() && (read.stopped || settings.strictTerminal === false);
  if (!ended || read.stopReason === undefined) {
    throw new ModelError('Model.StreamTruncated', 'the answer ended before its message_stop', details);
  }
  const usage = read.usage();
  return { parts: read.parts(), stop: toStop(read.stopReason), ...(usage ? { usage } : {}), ...details };
}

function toStop(reason: string): StopReason {
  switch (reason) {
    case 'tool_use':
      return 'tool_calls';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'refusal';
    case 'pause_turn':
      return 'paused';
    default:
      return 'end';
  }
}
