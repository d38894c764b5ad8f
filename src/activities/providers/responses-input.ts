import type {
  EasyInputMessage,
  ResponseFunctionCallOutputItem,
  ResponseFunctionToolCall,
  ResponseInputItem,
  ResponseOutputMessage,
} from 'openai/resources/responses/responses';
import type { ContentPart, FilePart, Message, Part, ToolCallPart } from '../../contracts/message.js';
import { sentArguments } from './parse-arguments.js';
import { partsText } from './parts-text.js';
import { type Following, sentReasoning } from './responses-reasoning.js';
import { wireCallId } from './wire-call-id.js';
import { wireToolName } from './wire-tool-name.js';

/** What is known of the server that the items go to. */
export interface InputOptions {
  /** Whose encrypted reasoning the server can read. */
  readonly origin: string;
  /** False: pictures are named, not sent. @default true */
  readonly images?: boolean | undefined;
}

/** The transcript as items of the Responses API: each text, call, result and piece of reasoning is one. */
export function toResponsesInput(messages: readonly Message[], options: InputOptions): ResponseInputItem[] {
  return messages.flatMap((message): ResponseInputItem[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: contentOf(message.parts, options) }];
      case 'assistant':
        return assistantItems(message.parts, options);
      case 'tool':
        return message.parts
          .filter((part) => part.type === 'tool_result')
          .map(({ callId, parts }) => ({ type: 'function_call_output', call_id: wireCallId(callId), output: contentOf(parts, options) }));
    }
  });
}

/** Parts that are text in this format are one text; pictures and documents go beside it, where the server takes them. */
function contentOf(parts: readonly Part[], options: InputOptions): string | ContentBlock[] {
  const isFile = (part: Part): part is InlineFile => isInlineFile(part, options);
  const files = parts.filter(isFile);
  const rest = parts.filter((part) => !isFile(part));
  if (files.length === 0) return partsText(rest);
  return [...(rest.length > 0 ? [{ type: 'input_text' as const, text: partsText(rest) }] : []), ...files.map(fileBlock)];
}

/** A message and the output of a call take the same blocks. */
type ContentBlock = ResponseFunctionCallOutputItem & Exclude<EasyInputMessage['content'], string>[number];

type InlineFile = FilePart & { readonly dataBase64: string };

const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function isInlineFile(part: Part, { images }: InputOptions): part is InlineFile {
  if (part.type !== 'file' || part.dataBase64 === undefined) return false;
  return part.mime === 'application/pdf' || (images !== false && IMAGES.has(part.mime));
}

function fileBlock({ mime, dataBase64 }: InlineFile): ContentBlock {
  const url = `data:${mime};base64,${dataBase64}`;
  if (IMAGES.has(mime)) return { type: 'input_image', image_url: url, detail: 'auto' };
  return { type: 'input_file', filename: 'document.pdf', file_data: url };
}

type AnswerItem = EasyInputMessage | ResponseOutputMessage | ResponseFunctionToolCall;

/** Reasoning goes before the very item that it came before, or not at all: alone, or before another one, the API refuses it. */
function assistantItems(parts: readonly Part[], options: InputOptions): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  let reasoning: ResponseInputItem[] = [];
  let following: Following | undefined;
  for (const part of parts) {
    if (part.type === 'thinking') {
      const sent = sentReasoning(part, options.origin);
      if (!sent) continue;
      // of two in a row only those count that belong to one item
      reasoning = sent.following?.id === following?.id ? [...reasoning, sent.item] : [sent.item];
      following = sent.following;
      continue;
    }
    const type = part.type === 'tool_call' ? 'function_call' : 'message';
    const isFollowing = following?.type === type;
    const item = answerItem(part, isFollowing ? following?.id : undefined);
    if (!item) continue;
    items.push(...(isFollowing ? reasoning : []), item);
    reasoning = [];
    following = undefined;
  }
  return items.length > 0 ? items : [{ role: 'assistant', content: '(no text)' }];
}

function answerItem(part: Exclude<Part, { type: 'thinking' }>, id: string | undefined): AnswerItem | undefined {
  switch (part.type) {
    case 'tool_call':
      return functionCall(part, id);
    case 'tool_result':
      return undefined;
    case 'text':
      return part.text === '' ? undefined : outputMessage(part.text, id);
    case 'file':
    case 'artifact':
      return outputMessage(fileText(part), id);
  }
}

function functionCall(call: ToolCallPart, id: string | undefined): ResponseFunctionToolCall {
  return {
    type: 'function_call',
    call_id: wireCallId(call.callId),
    name: wireToolName(call.name),
    arguments: JSON.stringify(sentArguments(call)),
    ...(id === undefined ? {} : { id }),
  };
}

function outputMessage(text: string, id: string | undefined): EasyInputMessage | ResponseOutputMessage {
  if (id === undefined) return { role: 'assistant', content: text };
  return { type: 'message', role: 'assistant', id, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
}

function fileText(part: Exclude<ContentPart, { type: 'text' }>): string {
  return partsText([part]);
}
