import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { StopReason } from '../../../contracts/schemas/model.js';
import { ModelError } from '../../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest, ProviderSettings } from '../../contract/provider.js';
import { toModelError } from '../../errors/classify-error.js';
import { readEvents } from '../../http/read-stream.js';
import { templateOf } from '../../templates/templates.js';
import { withTextTools } from '../../templates/text-tools.js';
import { ownCalls, refuseLostCall } from '../../transcript/decode-calls.js';
import { openAiCall, openAiGuard } from '../client.js';
import { CALL_REASONS, LENGTH_REASONS } from '../finish-reason.js';
import { toChatBody } from './body.js';
import { OpenAiStream } from './stream.js';

/** A provider for OpenAI's chat completions and every server compatible with it. */
export function createOpenAiChatProvider(settings: ProviderSettings): ModelProvider {
  const provider: ModelProvider = { call: (request) => callOpenAi(settings, request) };
  const textTools = settings.quirks?.toolCallsAsText;
  return textTools ? withTextTools(provider, templateOf(textTools)) : provider;
}

async function callOpenAi(settings: ProviderSettings, request: ModelRequest): Promise<ModelAnswer> {
  const guard = openAiGuard(settings, request);
  try {
    const { body, names } = toChatBody(request, settings);
    const { data, request_id } = await openAiCall(settings, guard, ({ chat }) =>
      // the SDK's type knows no fields of other servers; it sends what it is given
      chat.completions.create(body as ChatCompletionCreateParamsStreaming, { signal: request.signal, maxRetries: 0 }).withResponse(),
    );
    const { thinkTag, thoughtSignatures, reasoningDetails } = settings.quirks ?? {};
    const reader = new OpenAiStream({ onDelta: request.onDelta, names, thinkTag, thoughtSignatures, reasoningDetails });
    await readEvents(data, reader, { guard, signal: request.signal });
    const answer = completeAnswer(reader, request_id, settings);
    return { ...answer, parts: ownCalls(answer.parts, request.tools, settings.quirks?.schemaDialect) };
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error, settings.apiKey);
  } finally {
    guard.release();
  }
}

/** Takes the answer only when it is complete: a non-null finish reason for choice 0. */
function completeAnswer(reader: OpenAiStream, requestId: string | null, settings: ProviderSettings): ModelAnswer {
  const details = requestId === null ? {} : { requestId };
  if (reader.events === 0) throw new ModelError('Model.EmptyStream', 'the response stream is empty', details);
  reader.end();
  if (reader.failure && !reader.isComplete()) throw toModelError({ error: reader.failure }, settings.apiKey);
  const reason = reader.finishReason ?? (settings.quirks?.strictTerminal === false && reader.isWhole() ? 'stop' : undefined);
  if (reason === undefined) throw new ModelError('Model.StreamTruncated', 'the response ended before its finish reason', details);
  const parts = reader.parts();
  if (CALL_REASONS.has(reason)) refuseLostCall(parts, details);
  const usage = reader.usage();
  return { parts, stop: toStop(reason, reader), ...(usage ? { usage } : {}), ...details };
}

function toStop(reason: string, reader: OpenAiStream): StopReason {
  if (LENGTH_REASONS.has(reason)) return 'length';
  if (reason === 'content_filter' || reader.refused) return 'refusal';
  return reader.hasCalls() ? 'tool_calls' : 'end';
}
