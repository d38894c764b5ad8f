import type { CreateMessageRequest } from '@modelcontextprotocol/sdk/types.js';
import { SAMPLING_LIMITS } from '../../contracts/constants/limits.js';
import type { SamplingMessage, SamplingRequest } from '../../contracts/schemas/sampling.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';

/** A request of a server for a completion, and the texts that end its answer. */
export interface ReadSampling extends Pick<SamplingRequest, 'system' | 'messages' | 'tokensMax' | 'temperature'> {
  readonly stops: readonly string[];
}

/** The formats of images that models read. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Reads what a server requests, as the SDK parsed it. `modelPreferences`, `metadata` and `includeContext` have no effect: a completion sees
 * nothing of the run. Throws an Error that says what is wrong.
 */
export function readSampling(params: CreateMessageRequest['params']): ReadSampling {
  const { tools, toolChoice, systemPrompt, temperature, maxTokens, stopSequences = [] } = params;
  if (tools !== undefined || toolChoice !== undefined) throw new Error('tools are not supported');
  if (maxTokens < 1) throw new Error('maxTokens is not positive');
  const { temperatureMax, stopSequencesMax, stopCharsMax, requestCharsMax } = SAMPLING_LIMITS;
  if (temperature !== undefined && !(temperature >= 0 && temperature <= temperatureMax))
    throw new Error(`temperature is not from 0 to ${temperatureMax}`);
  if (stopSequences.length > stopSequencesMax) throw new Error(`${stopSequences.length} stop sequences, at most ${stopSequencesMax}`);
  if (stopSequences.some((text) => text === '' || text.length > stopCharsMax))
    throw new Error(`a stop sequence has 1 to ${stopCharsMax} characters`);
  const read = {
    ...(systemPrompt === undefined ? {} : { system: cleanText(systemPrompt) }),
    messages: readMessages(params.messages),
    tokensMax: Math.min(maxTokens, SAMPLING_LIMITS.tokensMax),
    ...(temperature === undefined ? {} : { temperature }),
  };
  const chars = JSON.stringify(read).length;
  // the run counts its id and its server too
  if (chars > requestCharsMax - ENVELOPE_CHARS) throw new Error(`${chars} characters, at most ${requestCharsMax - ENVELOPE_CHARS}`);
  return { ...read, stops: stopSequences };
}

const ENVELOPE_CHARS = 1_024;

type Given = CreateMessageRequest['params']['messages'];

function readMessages(given: Given): SamplingMessage[] {
  const { messagesMax } = SAMPLING_LIMITS;
  if (given.length === 0 || given.length > messagesMax) throw new Error(`${given.length} messages, 1 to ${messagesMax}`);
  if (given[0]?.role !== 'user' || given.at(-1)?.role !== 'user') throw new Error('the first and the last message must be of the user');
  return given.map(({ role, content }) => {
    const parts = (Array.isArray(content) ? content : [content]).map(readPart);
    if (parts.length === 0) throw new Error('a message is empty');
    return { role, parts };
  });
}

type Content = Exclude<Given[number]['content'], readonly unknown[]>;

function readPart(content: Content): SamplingMessage['parts'][number] {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: cleanText(content.text) };
    case 'image':
      if (!IMAGES.has(content.mimeType))
        throw new Error(`images of type ${JSON.stringify(content.mimeType.slice(0, 40))} are not supported`);
      return { type: 'file', mime: content.mimeType, dataBase64: content.data };
    case 'audio':
    case 'tool_use':
    case 'tool_result':
      throw new Error(`content of type ${JSON.stringify(content.type)} is not supported`);
  }
}
