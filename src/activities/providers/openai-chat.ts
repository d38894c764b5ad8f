import OpenAI from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { StopReason } from '../../contracts/model.js';
import { guardedFetch } from './guarded-fetch.js';
import { ModelError } from './model-error.js';
import { toModelError } from './model-failure.js';
import { toOpenAiMessages } from './openai-messages.js';
import { OpenAiStream } from './openai-stream.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.js';
import type { ProviderSettings } from './provider-settings.js';
import { readEvents } from './read-events.js';
import { SDK_TIMEOUT_MS, SILENT_LOGGER } from './sdk-settings.js';

/** A provider for OpenAI's chat completions and every server compatible with it. */
export function createOpenAiChatProvider(settings: ProviderSettings): ModelProvider {
  return { call: (request) => callOpenAi(settings, request) };
}

async function callOpenAi(settings: ProviderSettings, request: ModelRequest): Promise<ModelAnswer> {
  const guard = guardedFetch({ idleMs: request.idleMs, headers: { authorization: `Bearer ${settings.apiKey}` }, apiKey: settings.apiKey });
  try {
    const client = new OpenAI({
      apiKey: settings.apiKey,
      baseURL: settings.baseUrl,
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      fetch: guard.fetch,
      logger: SILENT_LOGGER,
      logLevel: 'off',
    });
    const { data, request_id } = await client.chat.completions
      .create(toBody(request, settings), { signal: request.signal, maxRetries: 0 })
      .withResponse();
    const reader = new OpenAiStream(request.onDelta);
    await readEvents(data, reader, { guard, signal: request.signal });
    return completeAnswer(reader, request_id, settings);
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error, settings.apiKey);
  } finally {
    guard.release();
  }
}

function toBody(request: ModelRequest, { baseUrl }: ProviderSettings): ChatCompletionCreateParamsStreaming {
  const tools = request.tools.map(({ name, description, schema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: schema },
  }));
  return {
    model: request.model,
    messages: toOpenAiMessages(request.prompt, request.messages),
    stream: true,
    stream_options: { include_usage: true },
    ...outputLimit(baseUrl, request.outputTokensMax),
    ...(tools.length > 0 ? { tools, tool_choice: request.toolChoice } : {}),
  };
}

/** Where OpenAI's own models are served. */
const OPENAI_HOST = /(^|\.)openai\.(azure\.)?com$/u;

/** OpenAI's own models take only the new name of the limit; many compatible servers ignore or refuse it and know the old one. */
function outputLimit(baseUrl: string, tokens: number): { max_completion_tokens: number } | { max_tokens: number } {
  return OPENAI_HOST.test(new URL(baseUrl).hostname) ? { max_completion_tokens: tokens } : { max_tokens: tokens };
}

/** Takes the answer only when it is complete: a non-null finish reason for choice 0. */
function completeAnswer(reader: OpenAiStream, requestId: string | null, settings: ProviderSettings): ModelAnswer {
  const details = requestId === null ? {} : { requestId };
  if (reader.events === 0) throw new ModelError('Model.EmptyStream', 'the model answered with an empty stream', details);
  const reason = reader.finishReason ?? (settings.quirks?.strictTerminal === false && reader.isWhole() ? 'stop' : undefined);
  if (reason === undefined) throw new ModelError('Model.StreamTruncated', 'the answer ended before its finish reason', details);
  const usage = reader.usage();
  return { parts: reader.parts(), stop: toStop(reason, reader), ...(usage ? { usage } : {}), ...details };
}

/** The output limit's own word, and those of servers that cut at the window's end or speak of their models' own words. */
const LENGTH_REASONS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_length', 'model_context_window_exceeded']);

function toStop(reason: string, reader: OpenAiStream): StopReason {
  if (LENGTH_REASONS.has(reason)) return 'length';
  if (reason === 'content_filter' || reader.refused) return 'refusal';
  return reader.hasCalls() ? 'tool_calls' : 'end';
}
