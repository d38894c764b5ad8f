import type { ContentBlockParam, MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { ContentPart, Message, Part, ThinkingPart } from '../../contracts/message.js';
import { partsText } from './parts-text.js';

/** What `opaque` of a thinking part holds for this format: the signature, or the whole of a redacted block. */
export const AnthropicThinking = z.union([z.strictObject({ signature: z.string() }), z.strictObject({ redacted: z.string() })]);

/**
 * The transcript in the wire format of the messages API: neighbouring messages of one side are one message, tool results come first in
 * theirs, and no block is empty.
 */
export function toAnthropicMessages(messages: readonly Message[]): MessageParam[] {
  const merged: { role: 'user' | 'assistant'; content: ContentBlockParam[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = message.parts.flatMap(toBlock);
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  return merged.map(({ role, content }) => ({ role, content: role === 'user' ? resultsFirst(content) : nonEmpty(content) }));
}

function toBlock(part: Part): ContentBlockParam[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'thinking':
      return thinkingBlock(part);
    case 'tool_call':
      return [{ type: 'tool_use', id: part.callId, name: part.name, input: part.args }];
    case 'tool_result':
      return [toolResult(part.callId, part.isError, part.parts)];
    case 'file':
    case 'artifact':
      return [fileBlock(part)];
  }
}

/** Only thinking that this provider signed may be sent back; another provider's is left out. */
function thinkingBlock(part: ThinkingPart): ContentBlockParam[] {
  const opaque = part.opaque === undefined ? undefined : AnthropicThinking.safeParse(parseJson(part.opaque)).data;
  if (!opaque) return [];
  return 'signature' in opaque
    ? [{ type: 'thinking', thinking: part.text, signature: opaque.signature }]
    : [{ type: 'redacted_thinking', data: opaque.redacted }];
}

function toolResult(callId: string, isError: boolean, parts: readonly ContentPart[]): ToolResultBlockParam {
  return { type: 'tool_result', tool_use_id: callId, is_error: isError, content: [{ type: 'text', text: partsText(parts) }] };
}

function fileBlock(part: ContentPart): ContentBlockParam {
  const isImage = part.type === 'file' && part.dataBase64 !== undefined;
  const mime = isImage ? ImageMime.safeParse(part.mime).data : undefined;
  if (!isImage || !mime) return { type: 'text', text: partsText([part]) };
  return { type: 'image', source: { type: 'base64', media_type: mime, data: part.dataBase64 ?? '' } };
}

const ImageMime = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function resultsFirst(content: readonly ContentBlockParam[]): ContentBlockParam[] {
  const results = content.filter((block) => block.type === 'tool_result');
  return nonEmpty([...results, ...content.filter((block) => block.type !== 'tool_result')]);
}

/** The API refuses a message without content. */
function nonEmpty(content: readonly ContentBlockParam[]): ContentBlockParam[] {
  return content.length > 0 ? [...content] : [{ type: 'text', text: '(no text)' }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
