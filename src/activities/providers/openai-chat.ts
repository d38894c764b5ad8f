import OpenAI from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { StopReason } from '../../contracts/model.js';
import { guardedFetch } from './guarded-fetch.js';
import { ModelError } from './model-error.js';
import { toModelError } from './model-failure.js';
import { toOpenAiMessages } from './openai-messages.js';
import { OpenAiStream } from './openai-stream.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.js';
import { SDK_TIMEOUT_MS, SILENT_LOGGER } from './sdk-settings.js';

/** Where a chat completions server is. */
export interface OpenAiChatSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** False for servers that never send a finish reason: text that ended cleanly then counts as complete. @default true */
  readonly strictTerminal?: boolean;
}

/** A provider for OpenAI's chat completions and every server compatible with it. */
export function createOpenAiChatProvider(settings: OpenAiChatSettings): ModelProvider {
  return { call: (request) => callOpenAi(settings, request) };
}

async function callOpenAi(settings: OpenAiChatSettings, request: ModelRequest): Promise<ModelAnswer> {
  const guard = guardedFetch({ idleMs: request.idleMs, headers: { authorization: `Bearer ${settings.apiKey}` } });
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
      .create(toBody(request), { signal: request.signal, maxRetries: 0 })
      .withResponse();
    return await readStream(data, request_id, settings, request, () => guard.failure());
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error);
  } finally {
    guard.release();
  }
}

function toBody(request: ModelRequest): ChatCompletionCreateParamsStreaming {
  const tools = request.tools.map(({ name, description, schema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: schema },
  }));
  return {
    model: request.model,
    messages: toOpenAiMessages(request.prompt, request.messages),
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: request.outputTokensMax,
    ...(tools.length > 0 ? { tools, tool_choice: request.toolChoice } : {}),
  };
}

/** Reads to the end and takes the answer only when it is complete: a non-null finish reason for choice 0 (faults 3.3 a). */
async function readStream(
  stream: AsyncIterable<ChatCompletionChunk>,
  requestId: string | null,
  settings: OpenAiChatSettings,
  request: ModelRequest,
  guardFailure: () => ModelError | undefined,
): Promise<ModelAnswer> {
  const read = new OpenAiStream(request.onDelta);
  for await (const chunk of stream) read.add(chunk);
  // an abort ends the SDK's loop without an error, so it is looked at before the answer is
  request.signal.throwIfAborted();
  const failure = guardFailure();
  if (failure) throw failure;
  const details = requestId === null ? {} : { requestId };
  if (read.events === 0) throw new ModelError('Model.EmptyStream', 'the model answered with an empty stream', details);
  const stop = read.finishReason ?? (settings.strictTerminal === false && read.isWhole() ? 'stop' : undefined);
  if (stop === undefined) throw new ModelError('Model.StreamTruncated', 'the answer ended before its finish reason', details);
  const usage = read.usage();
  return { parts: read.parts(), stop: toStop(stop, read.hasCalls()), ...(usage ? { usage } : {}), ...details };
}

function toStop(reason: string, hasCalls: boolean): StopReason {
  if (reason === 'length') return 'length';
  if (reason === 'content_filter') return 'refusal';
  return hasCalls ? 'tool_calls' : 'end';
}
