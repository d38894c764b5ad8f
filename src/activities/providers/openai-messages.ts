import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type Message, textOf, toolCallsOf } from '../../contracts/message.js';
import { partsText } from './parts-text.js';

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
        .map((part) => ({ role: 'tool', tool_call_id: part.callId, content: partsText(part.parts) }));
  }
}

function userContent(message: Message): string | ChatCompletionContentPart[] {
  const images = message.parts.filter((part) => part.type === 'file' && part.mime.startsWith('image/') && part.dataBase64 !== undefined);
  if (images.length === 0) return partsText(message.parts);
  const text: ChatCompletionContentPart[] = [{ type: 'text', text: partsText(message.parts.filter((part) => !images.includes(part))) }];
  const urls = images.map((part): ChatCompletionContentPart => {
    const url = part.type === 'file' ? `data:${part.mime};base64,${part.dataBase64}` : '';
    return { type: 'image_url', image_url: { url } };
  });
  return [...text, ...urls];
}

function assistant(message: Message): ChatCompletionMessageParam {
  const calls = toolCallsOf(message);
  const content = textOf(message);
  if (calls.length === 0) return { role: 'assistant', content: content === '' ? '(no text)' : content };
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map((call) => ({
      id: call.callId,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.args) },
    })),
  };
}
