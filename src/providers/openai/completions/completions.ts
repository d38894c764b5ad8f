import type { CompletionCreateParamsStreaming } from 'openai/resources/completions';
import type { StopReason } from '../../../contracts/schemas/model.js';
import { ModelError } from '../../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest, ProviderSettings } from '../../contract/provider.js';
import { toModelError } from '../../errors/classify-error.js';
import { readEvents } from '../../http/read-stream.js';
import type { ChatTemplate } from '../../templates/chat-template.js';
import { templateOf } from '../../templates/templates.js';
import { withTextTools } from '../../templates/text-tools.js';
import { openAiCall, openAiGuard } from '../client.js';
import { LENGTH_REASONS } from '../finish-reason.js';
import { CompletionsStream } from './stream.js';

/**
 * A provider for servers that only complete a text: a template makes one of the transcript, and reads thinking and calls out of what
 * comes. @default the template of Qwen 3
 */
export function createOpenAiCompletionsProvider(settings: ProviderSettings): ModelProvider {
  const template = templateOf(settings.quirks?.template ?? 'qwen3');
  return withTextTools({ call: (request) => callCompletions(settings, request, template) }, template);
}

async function callCompletions(settings: ProviderSettings, request: ModelRequest, template: ChatTemplate): Promise<ModelAnswer> {
  const guard = openAiGuard(settings, request);
  try {
    const { data, request_id } = await openAiCall(settings, guard, ({ completions }) =>
      completions.create(toBody(request, settings, template), { signal: request.signal, maxRetries: 0 }).withResponse(),
    );
    const reader = new CompletionsStream(request.onDelta);
    await readEvents(data, reader, { guard, signal: request.signal });
    return completeAnswer(reader, request_id, settings);
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error, settings.apiKey);
  } finally {
    guard.release();
  }
}

function toBody(request: ModelRequest, { quirks }: ProviderSettings, template: ChatTemplate): CompletionCreateParamsStreaming {
  return {
    model: request.model,
    prompt: template.render(request, { thinking: request.thinking }),
    max_tokens: request.outputTokensMax,
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    stop: [...template.markup.stops],
    stream: true,
    ...(quirks?.streamUsage === false ? {} : { stream_options: { include_usage: true } }),
  };
}

/** Takes the answer only when it is complete: a non-null finish reason for choice 0. */
function completeAnswer(reader: CompletionsStream, requestId: string | null, { quirks }: ProviderSettings): ModelAnswer {
  const details = requestId === null ? {} : { requestId };
  if (reader.events === 0) throw new ModelError('Model.EmptyStream', 'the response stream is empty', details);
  const reason = reader.finishReason ?? (quirks?.strictTerminal === false && reader.text !== '' ? 'stop' : undefined);
  if (reason === undefined) throw new ModelError('Model.StreamTruncated', 'the response ended before its finish reason', details);
  const usage = reader.usage();
  return {
    parts: reader.text === '' ? [] : [{ type: 'text', text: reader.text }],
    stop: toStop(reason),
    ...(usage ? { usage } : {}),
    ...details,
  };
}

function toStop(reason: string): StopReason {
  if (LENGTH_REASONS.has(reason)) return 'length';
  return reason === 'content_filter' ? 'refusal' : 'end';
}
