import type {
  EasyInputMessage,
  ResponseFunctionCallOutputItem,
  ResponseFunctionToolCall,
  ResponseInputItem,
  ResponseOutputMessage,
} from 'openai/resources/responses/responses';
import type { ContentPart, Message, Part, ToolCallPart } from '../../../contracts/schemas/message.js';
import type { ModelRequest, ProviderSettings } from '../../contract/provider.js';
import { wireCallIds } from '../../transcript/call-ids.js';
import { partsText } from '../../transcript/file-parts.js';
import { sentArguments } from '../../transcript/parse-arguments.js';
import { type ToolNames, toolNames } from '../../transcript/tool-names.js';
import { type ShownKinds, shownFiles } from '../chat/messages.js';
import { isOpenAiHost } from '../client.js';
import { type Following, reasoningOrigin, sentReasoning } from './reasoning.js';

/** What the items are written for. */
interface Target {
  /** Whose encrypted reasoning the server can read. */
  readonly origin: string;
  readonly names: ToolNames;
  readonly idOf: (callId: string) => string;
  readonly kinds: ShownKinds;
}

/** The transcript as items of the Responses API: each text, call, result and piece of reasoning is one. */
export function toResponsesInput(
  { messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>,
  settings: ProviderSettings,
): ResponseInputItem[] {
  const { baseUrl, quirks = {} } = settings;
  const target = {
    origin: reasoningOrigin(settings),
    names: toolNames(tools),
    idOf: wireCallIds(quirks.callIdChars),
    kinds: { images: quirks.images !== false, files: quirks.files ?? isOpenAiHost(baseUrl) },
  };
  return messages.flatMap((message) => itemsOf(message, target));
}

function itemsOf({ role, parts }: Message, target: Target): ResponseInputItem[] {
  switch (role) {
    case 'user':
      return [{ role: 'user', content: contentOf(parts, target) }];
    case 'assistant':
      return assistantItems(parts, target);
    case 'tool':
      return parts
        .filter((part) => part.type === 'tool_result')
        .map((result) => ({ type: 'function_call_output', call_id: target.idOf(result.callId), output: contentOf(result.parts, target) }));
  }
}

/** A message and the output of a call take the same blocks. */
type ContentBlock = ResponseFunctionCallOutputItem & Exclude<EasyInputMessage['content'], string>[number];

/** What can be shown as it is, and all else as one text before it. */
function contentOf(parts: readonly Part[], { kinds }: Target): string | ContentBlock[] {
  const shown = shownFiles(parts, kinds);
  if (shown.length === 0) return partsText(parts);
  const files = new Set<Part>(shown);
  const rest = parts.filter((part) => !files.has(part));
  return [...(rest.length > 0 ? [{ type: 'input_text' as const, text: partsText(rest) }] : []), ...shown.map(fileBlock)];
}

function fileBlock({ mime, dataBase64 }: ReturnType<typeof shownFiles>[number]): ContentBlock {
  const url = `data:${mime};base64,${dataBase64}`;
  if (mime.startsWith('image/')) return { type: 'input_image', image_url: url, detail: 'auto' };
  return { type: 'input_file', filename: 'document.pdf', file_data: url };
}

type AnswerItem = EasyInputMessage | ResponseOutputMessage | ResponseFunctionToolCall;

/** Reasoning goes before the very item that it came before, or not at all: alone, or before another one, the API refuses it. */
function assistantItems(parts: readonly Part[], target: Target): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  let reasoning: ResponseInputItem[] = [];
  let following: Following | undefined;
  for (const part of parts) {
    if (part.type === 'thinking') {
      const sent = sentReasoning(part, target.origin);
      if (!sent) continue;
      // of two in a row only those count that belong to one item
      reasoning = sent.following?.id === following?.id ? [...reasoning, sent.item] : [sent.item];
      following = sent.following;
      continue;
    }
    const type = part.type === 'tool_call' ? 'function_call' : 'message';
    const isFollowing = following?.type === type;
    const item = answerItem(part, isFollowing ? following?.id : undefined, target);
    if (!item) continue;
    items.push(...(isFollowing ? reasoning : []), item);
    reasoning = [];
    following = undefined;
  }
  return items.length > 0 ? items : [{ role: 'assistant', content: '(no text)' }];
}

function answerItem(part: Exclude<Part, { type: 'thinking' }>, id: string | undefined, target: Target): AnswerItem | undefined {
  switch (part.type) {
    case 'tool_call':
      return functionCall(part, id, target);
    case 'tool_result':
      return undefined;
    case 'text':
      return part.text === '' ? undefined : outputMessage(part.text, id);
    case 'file':
    case 'artifact':
      return outputMessage(fileText(part), id);
  }
}

function functionCall(call: ToolCallPart, id: string | undefined, { names, idOf }: Target): ResponseFunctionToolCall {
  return {
    type: 'function_call',
    call_id: idOf(call.callId),
    name: names.wire(call.name),
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
