import type { ContentBlockParam, ImageBlockParam, TextBlockParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { ContentPart, FilePart, Message, Part, ThinkingPart } from '../../contracts/message.js';
import { sentArguments } from './parse-arguments.js';
import { partsText } from './parts-text.js';
import { wireCallId } from './wire-call-id.js';
import { wireToolName } from './wire-tool-name.js';

/** What `opaque` of a thinking part holds for this format: the signature, or the whole of a redacted block. */
export const AnthropicThinking = z.union([z.strictObject({ signature: z.string() }), z.strictObject({ redacted: z.string() })]);

/** A message as it is sent. */
export interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/**
 * The transcript in the wire format of the messages API: neighbouring messages of one side are one message, tool results come first in
 * theirs, no block is empty, and a user begins.
 */
export function toAnthropicMessages(messages: readonly Message[]): AnthropicMessage[] {
  // what was cut out of a longer conversation may begin with an answer, which the API refuses
  const merged: AnthropicMessage[] = messages[0]?.role === 'assistant' ? [{ role: 'user', content: [CUT_BEFORE] }] : [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = message.parts.flatMap(toBlock);
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  return merged.map(({ role, content }) => ({ role, content: role === 'user' ? resultsFirst(content) : nonEmpty(content) }));
}

const CUT_BEFORE: TextBlockParam = { type: 'text', text: '(what was said before is not shown)' };

function toBlock(part: Part): ContentBlockParam[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'thinking':
      return thinkingBlock(part);
    case 'tool_call':
      return [{ type: 'tool_use', id: wireCallId(part.callId), name: wireToolName(part.name), input: sentArguments(part) }];
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
  const images = parts.filter(isShownImage);
  const rest = parts.filter((part) => !isShownImage(part));
  const text = rest.length > 0 || images.length === 0 ? [{ type: 'text' as const, text: partsText(rest) }] : [];
  return { type: 'tool_result', tool_use_id: wireCallId(callId), is_error: isError, content: [...text, ...images.map(imageBlock)] };
}

type ShownImage = FilePart & { readonly dataBase64: string; readonly mime: z.infer<typeof ImageMime> };

const ImageMime = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function isShownImage(part: ContentPart): part is ShownImage {
  return part.type === 'file' && part.dataBase64 !== undefined && ImageMime.safeParse(part.mime).success;
}

function fileBlock(part: ContentPart): TextBlockParam | ImageBlockParam {
  return isShownImage(part) ? imageBlock(part) : { type: 'text', text: partsText([part]) };
}

function imageBlock({ mime, dataBase64 }: ShownImage): ImageBlockParam {
  return { type: 'image', source: { type: 'base64', media_type: mime, data: dataBase64 } };
}

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
