import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Message, Part } from '../../contracts/message.js';
import { textOf } from '../../contracts/text-of.js';
import { toolCallsOf } from '../../contracts/tool-calls-of.js';
import { sentArguments } from './parse-arguments.js';
import { partsText } from './parts-text.js';
import { wireCallId } from './wire-call-id.js';
import { wireToolName } from './wire-tool-name.js';

/** The transcript in the wire format of chat completions, the prompt first. */
export function toOpenAiMessages(prompt: string, messages: readonly Message[]): ChatCompletionMessageParam[] {
  const system: ChatCompletionMessageParam[] = prompt.trim() === '' ? [] : [{ role: 'system', content: prompt }];
  return [...system, ...messages.flatMap(toWire)];
}

function toWire(message: Message): ChatCompletionMessageParam[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: userContent(message) }];
    case 'assistant':
      return [assistant(message)];
    case 'tool':
      return message.parts
        .filter((part) => part.type === 'tool_result')
        .map((part) => ({ role: 'tool', tool_call_id: wireCallId(part.callId), content: partsText(part.parts) }));
  }
}

function userContent({ parts }: Message): string | ChatCompletionContentPart[] {
  const images = parts.flatMap(imageBlock);
  if (images.length === 0) return partsText(parts);
  const rest = parts.filter((part) => imageBlock(part).length === 0);
  return rest.length === 0 ? images : [{ type: 'text', text: partsText(rest) }, ...images];
}

function imageBlock(part: Part): ChatCompletionContentPart[] {
  if (part.type !== 'file' || part.dataBase64 === undefined || !part.mime.startsWith('image/')) return [];
  return [{ type: 'image_url', image_url: { url: `data:${part.mime};base64,${part.dataBase64}` } }];
}

function assistant(message: Message): ChatCompletionMessageParam {
  const calls = toolCallsOf(message);
  const content = textOf(message);
  if (calls.length === 0) return { role: 'assistant', content: content === '' ? '(no text)' : content };
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map((call) => ({
      id: wireCallId(call.callId),
      type: 'function',
      function: { name: wireToolName(call.name), arguments: JSON.stringify(sentArguments(call)) },
    })),
  };
}
