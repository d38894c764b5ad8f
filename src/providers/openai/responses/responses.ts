import type { StopReason } from '../../../contracts/schemas/model.js';
import { ModelError } from '../../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest, ProviderSettings } from '../../contract/provider.js';
import { toModelError } from '../../errors/classify-error.js';
import { readEvents } from '../../http/read-stream.js';
import { ownCalls } from '../../transcript/decode-calls.js';
import { toolNames } from '../../transcript/tool-names.js';
import { openAiCall, openAiGuard } from '../client.js';
import { toResponsesBody } from './body.js';
import { reasoningOrigin } from './reasoning.js';
import { ResponsesStream } from './stream.js';

/** A provider for OpenAI's Responses API and servers that speak it. Nothing is kept there: each request holds the whole conversation. */
export function createOpenAiResponsesProvider(settings: ProviderSettings): ModelProvider {
  return { call: (request) => callResponses(request, settings) };
}

async function callResponses(request: ModelRequest, settings: ProviderSettings): Promise<ModelAnswer> {
  const guard = openAiGuard(settings, request);
  try {
    const body = toResponsesBody(request, settings);
    const { data, request_id } = await openAiCall(settings, guard, ({ responses }) =>
      responses.create(body, { signal: request.signal, maxRetries: 0 }).withResponse(),
    );
    const { onDelta, tools, signal } = request;
    const reader = new ResponsesStream({ onDelta, names: toolNames(tools), origin: reasoningOrigin(settings) });
    await readEvents(data, reader, { guard, signal });
    const answer = completeAnswer(reader, { settings, requestId: request_id, limit: body.max_output_tokens });
    return { ...answer, parts: ownCalls(answer.parts, tools, settings.quirks?.schemaDialect) };
  } catch (error) {
    request.signal.throwIfAborted();
    throw guard.failure() ?? toModelError(error, settings.apiKey);
  } finally {
    guard.release();
  }
}

interface Asked {
  readonly settings: ProviderSettings;
  readonly requestId: string | null;
  /** The output limit that was asked for. */
  readonly limit: number;
}

/** Takes the answer only when the server said how it ended, and no call lacks its end. */
function completeAnswer(reader: ResponsesStream, { settings, requestId, limit }: Asked): ModelAnswer {
  const details = requestId === null ? {} : { requestId };
  if (reader.events === 0) throw new ModelError('Model.EmptyStream', 'the response stream is empty', details);
  if (reader.failure) throw toModelError({ error: reader.failure, request_id: requestId }, settings.apiKey);
  const stop = stopOf(reader, settings, limit);
  if (!stop) throw new ModelError('Model.StreamTruncated', 'the response ended before its response.completed', details);
  const usage = reader.usage();
  return { parts: reader.parts(stop), stop, ...(usage ? { usage } : {}), ...details };
}

/** Undefined for an answer that was cut. */
function stopOf(reader: ResponsesStream, { quirks }: ProviderSettings, limit: number): StopReason | undefined {
  switch (reader.ending) {
    case undefined:
      return quirks?.strictTerminal === false && reader.isText() ? 'end' : undefined;
    case 'content_filter':
      return 'refusal';
    case 'incomplete':
      return 'length';
    case 'completed':
      if (reader.isCutAt(limit)) return 'length';
      if (reader.hasOpenCall()) return undefined;
      if (reader.hasRefusal()) return 'refusal';
      return reader.hasCalls() ? 'tool_calls' : 'end';
  }
}
