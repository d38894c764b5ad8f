import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming, TextBlockParam, ToolChoice } from '@anthropic-ai/sdk/resources/messages';
import type { StopReason } from '../../contracts/model.js';
import { toAnthropicMessages } from './anthropic-messages.js';
import { AnthropicStream } from './anthropic-stream.js';
import { CACHE_MARK, markLastBlock } from './cache-mark.js';
import { guardedFetch } from './guarded-fetch.js';
import { ModelError } from './model-error.js';
import { toModelError } from './model-failure.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.js';
import type { ProviderSettings } from './provider-settings.js';
import { readEvents } from './read-events.js';
import { SDK_TIMEOUT_MS, SILENT_LOGGER } from './sdk-settings.js';

/** The version of the API whose answers are read here. */
const API_VERSION = { 'anthropic-version': '2023-06-01' };

/** A provider for Anthropic's messages API and servers that speak it. */
export function createAnthropicProvider(settings: ProviderSettings): ModelProvider {
  return { call: (request) => callAnthropic(settings, request) };
}

async function callAnthropic(settings: ProviderSettings, request: ModelRequest): Promise<ModelAnswer> {
  const guard = guardedFetch({
    idleMs: request.idleMs,
    headers: { 'x-api-key': settings.apiKey, ...API_VERSION },
    apiKey: settings.apiKey,
  });
  try {
    const client = new Anthropic({
      apiKey: settings.apiKey,
      baseURL: settings.baseUrl,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      fetch: guard.fetch,
      logger: SILENT_LOGGER,
      logLevel: 'off',
      // by its environment variables the SDK would put prompts on traces
      openTelemetry: false,
    });
    const { data, request_id } = await client.messages.create(toBody(request), { signal: request.signal, maxRetries: 0 }).withResponse();
    const reader = new AnthropicStream(request.onDelta, settings.quirks?.strictTerminal ?? true);
    await readEvents(data, reader, { guard, signal: request.signal });
    return completeAnswer(reader, request_id ?? null);
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error, settings.apiKey);
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
  const { prompt } = request;
  const system: TextBlockParam[] = prompt.trim() === '' ? [] : [{ type: 'text', text: prompt, cache_control: CACHE_MARK }];
  return {
    model: request.model,
    max_tokens: request.outputTokensMax,
    ...(system.length > 0 ? { system } : {}),
    messages: markLastBlock(toAnthropicMessages(request.messages)),
    stream: true,
    ...(tools.length > 0 ? { tools, tool_choice: toToolChoice(request.toolChoice) } : {}),
  };
}

function toToolChoice(choice: ModelRequest['toolChoice']): ToolChoice {
  return { type: choice === 'required' ? 'any' : choice };
}

function completeAnswer(reader: AnthropicStream, requestId: string | null): ModelAnswer {
  const details = requestId === null ? {} : { requestId };
  if (reader.events === 0) throw new ModelError('Model.EmptyStream', 'the model answered with an empty stream', details);
  if (!reader.isComplete()) throw new ModelError('Model.StreamTruncated', 'the answer ended before its message_stop', details);
  const usage = reader.usage();
  return { parts: reader.parts(), stop: toStop(reader.stopReason ?? ''), ...(usage ? { usage } : {}), ...details };
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
