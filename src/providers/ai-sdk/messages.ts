import type { ContentPart, FilePart, Message, Part } from '../../contracts/schemas/message.js';
import type { ModelRequest } from '../contract/provider.js';
import { wireCallIds } from '../transcript/call-ids.js';
import { partsText } from '../transcript/file-parts.js';
import { sentArguments } from '../transcript/parse-arguments.js';
import { type ToolNames, toolNames } from '../transcript/tool-names.js';
import { type AiSdkFamily, aiSdkFamily } from './family.js';
import type {
  AiSdkMessage,
  AiSdkModel,
  AiSdkOptions,
  AiSdkVersion,
  Bytes,
  Call,
  File,
  Reasoning,
  Result,
  ResultImage,
  Text,
  WithOptions,
} from './model.js';
import { metadataOf } from './opaque.js';

/**
 * The prompt and the transcript as a model of the AI SDK takes them: results of one turn are one message, a user begins, no message is
 * empty. Thinking and signed calls go back with their metadata to the provider that made them, and to no other.
 */
export function toAiSdkMessages(request: ModelRequest, model: AiSdkModel): AiSdkMessage[] {
  const { prompt, messages, tools, requestOnlyMessages = 0 } = request;
  const family = aiSdkFamily(model.provider);
  const shape = new Shape(model, family, toolNames(tools));
  const system: AiSdkMessage[] = prompt.trim() === '' ? [] : [{ role: 'system', content: prompt }];
  // what was cut out of a longer conversation may begin with an answer, which some servers refuse
  const begin: AiSdkMessage[] = messages[0]?.role === 'assistant' ? [{ role: 'user', content: [CUT_BEFORE] }] : [];
  const shaped = messages.map((message) => shape.message(message));
  const kept = shaped.slice(0, Math.max(0, shaped.length - requestOnlyMessages));
  return [...marked([...system, ...begin, ...resultsTogether(kept)], family), ...shaped.slice(kept.length)];
}

const CUT_BEFORE: Text = { type: 'text', text: '(what was said before is not shown)' };

const NO_TEXT: Text = { type: 'text', text: '(no text)' };

class Shape {
  readonly #version: AiSdkVersion;
  readonly #provider: string;
  readonly #family: AiSdkFamily;
  readonly #names: ToolNames;
  readonly #wireId: (callId: string) => string;
  /** The names of the calls so far: a result says them too. */
  readonly #called = new Map<string, string>();

  constructor({ specificationVersion, provider }: AiSdkModel, family: AiSdkFamily, names: ToolNames) {
    this.#version = specificationVersion;
    this.#provider = provider;
    this.#family = family;
    this.#names = names;
    this.#wireId = wireCallIds(family.callIdChars);
  }

  message({ role, parts }: Message): AiSdkMessage {
    switch (role) {
      case 'user':
        return { role, content: this.#user(parts) };
      case 'assistant': {
        const content = parts.flatMap((part) => this.#said(part));
        return { role, content: content.length > 0 ? content : [NO_TEXT] };
      }
      case 'tool':
        return { role, content: parts.flatMap((part) => this.#result(part)) };
    }
  }

  #user(parts: readonly Part[]): (Text | File)[] {
    const images = parts.filter(isImage);
    const rest = parts.filter((part) => !isImage(part));
    const text: Text[] = rest.length > 0 || images.length === 0 ? [{ type: 'text', text: partsText(rest) }] : [];
    return [...text, ...images.map(({ mime, dataBase64 }) => ({ type: 'file' as const, mediaType: mime, data: this.#bytes(dataBase64) }))];
  }

  #said(part: Part): (Text | Reasoning | Call)[] {
    switch (part.type) {
      case 'text':
        return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
      case 'thinking': {
        const metadata = metadataOf(this.#provider, part.opaque);
        return metadata ? [{ type: 'reasoning', text: part.text, ...optionsOf(metadata) }] : [];
      }
      case 'tool_call': {
        const toolName = this.#names.wire(part.name);
        this.#called.set(part.callId, toolName);
        const call = { type: 'tool-call' as const, toolCallId: this.#wireId(part.callId), toolName, input: sentArguments(part) };
        return [{ ...call, ...optionsOf(metadataOf(this.#provider, part.opaque)) }];
      }
      case 'file':
      case 'artifact':
        return [{ type: 'text', text: partsText([part]) }];
      case 'tool_result':
        return [];
    }
  }

  #result(part: Part): Result[] {
    if (part.type !== 'tool_result') return [];
    const toolName = this.#called.get(part.callId) ?? this.#names.wire('');
    return [{ type: 'tool-result', toolCallId: this.#wireId(part.callId), toolName, output: this.#output(part.isError, part.parts) }];
  }

  /** Only a text can say that it is an error. */
  #output(isError: boolean, parts: readonly ContentPart[]): Result['output'] {
    const images = parts.filter(isImage);
    if (isError || images.length === 0 || !this.#family.showsResultImages) {
      return { type: isError ? 'error-text' : 'text', value: partsText(parts) };
    }
    const rest = parts.filter((part) => !isImage(part));
    const text: Text[] = rest.length > 0 ? [{ type: 'text', text: partsText(rest) }] : [];
    return { type: 'content', value: [...text, ...images.map((image) => this.#resultImage(image))] };
  }

  #resultImage({ mime, dataBase64 }: Image): ResultImage {
    const type = { v2: 'media', v3: 'image-data', v4: 'file' } as const;
    return { type: type[this.#version], mediaType: mime, data: this.#bytes(dataBase64) };
  }

  #bytes(data: string): Bytes {
    return this.#version === 'v4' ? { type: 'data', data } : data;
  }
}

type Image = FilePart & { readonly dataBase64: string };

function isImage(part: Part): part is Image {
  return part.type === 'file' && part.dataBase64 !== undefined && part.mime.startsWith('image/');
}

function optionsOf(metadata: AiSdkOptions | undefined): WithOptions {
  return metadata && Object.keys(metadata).length > 0 ? { providerOptions: metadata } : {};
}

function resultsTogether(messages: readonly AiSdkMessage[]): AiSdkMessage[] {
  const together: AiSdkMessage[] = [];
  for (const message of messages) {
    const last = together.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') {
      together.splice(-1, 1, { role: 'tool', content: [...last.content, ...message.content] });
    } else together.push(message);
  }
  return together;
}

/**
 * Marks what the server may keep, where it is to be told: the prompt, the transcript up to its end, and up to what stood there in the
 * request before, because a server looks back over twenty blocks only.
 */
function marked(messages: readonly AiSdkMessage[], { name, cacheMark }: AiSdkFamily): AiSdkMessage[] {
  if (!cacheMark) return [...messages];
  const ends = new Set([messages.length - 1, messages.findLastIndex(({ role }) => role === 'assistant') - 1]);
  return messages.map((message, index) =>
    message.role === 'system' || ends.has(index) ? { ...message, providerOptions: { [name]: cacheMark } } : message,
  );
}
