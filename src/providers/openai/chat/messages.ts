import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ContentPart, FilePart, Message, Part, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../define/provider-quirks.js';
import type { ModelRequest, ProviderSettings } from '../../contract/provider.js';
import { alternateRoles, joinUserMessages } from '../../transcript/alternate-roles.js';
import { wireCallIds } from '../../transcript/call-ids.js';
import { partsText } from '../../transcript/file-parts.js';
import { sentArguments } from '../../transcript/parse-arguments.js';
import { type ToolNames, toolNames } from '../../transcript/tool-names.js';
import { isOpenAiHost } from '../client.js';
import { reasoningDetailsFields, signatureFields } from './reasoning.js';

/** What the messages are written for. */
interface Target {
  readonly names: ToolNames;
  readonly idOf: (callId: string) => string;
  readonly kinds: ShownKinds;
  readonly thinkingBack: ProviderQuirks['thinkingBack'] | undefined;
  /** What goes with a call beside its name and arguments. */
  readonly signed: (call: ToolCallPart, index: number) => object;
  /** What goes with an answer beside its calls. */
  readonly reasoned: (calls: readonly ToolCallPart[]) => object;
  /** What goes with a result beside its text. */
  readonly named: (callId: string) => object;
  /** The content of an answer that only calls. */
  readonly noText: '' | null;
}

/**
 * The transcript in the wire format of chat completions, the prompt first, in the ways of the server. A longer transcript begins with the
 * same messages, so that what a server keeps of a prompt is found again.
 */
export function toOpenAiMessages(
  { model, prompt, messages, tools }: Pick<ModelRequest, 'model' | 'prompt' | 'messages' | 'tools'>,
  { baseUrl, quirks = {} }: Pick<ProviderSettings, 'baseUrl' | 'quirks'>,
): ChatCompletionMessageParam[] {
  const names = toolNames(tools);
  const idOf = wireCallIds(quirks.callIdChars);
  const target = {
    names,
    idOf,
    thinkingBack: quirks.thinkingBack,
    signed: (call: ToolCallPart, index: number) => (quirks.thoughtSignatures ? signatureFields(call, { isFirst: index === 0, model }) : {}),
    reasoned: (calls: readonly ToolCallPart[]) => (quirks.reasoningDetails ? reasoningDetailsFields(calls, idOf) : {}),
    named: quirks.thoughtSignatures ? calledName(messages, names) : () => ({}),
    noText: quirks.emptyContent ? ('' as const) : null,
    kinds: { images: quirks.images !== false, files: quirks.files ?? isOpenAiHost(baseUrl) },
  };
  const sent = conversation(messages, target);
  const all = prompt.trim() === '' ? sent : withPrompt(prompt, sent, quirks.systemRole ?? 'system');
  return quirks.mergesRoles ? alternateRoles(all) : all;
}

/** A model without a role for the prompt reads it before the user's first words, in one message: two in a row it may refuse. */
function withPrompt(
  prompt: string,
  sent: readonly ChatCompletionMessageParam[],
  role: 'system' | 'developer' | 'user',
): ChatCompletionMessageParam[] {
  const [first, ...rest] = sent;
  if (role !== 'user' || first?.role !== 'user') return [{ role, content: prompt }, ...sent];
  return [joinUserMessages({ role, content: prompt }, first), ...rest];
}

/** Results can hold only text in this format: their pictures follow the last of them in a row, where the calls have all their results. */
function conversation(messages: readonly Message[], target: Target): ChatCompletionMessageParam[] {
  const sent: ChatCompletionMessageParam[] = [];
  let files: ContentPart[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      sent.push(...filesOfResults(files, target));
      files = [];
    }
    sent.push(...toWire(message, target));
    files.push(...resultsIn(message).flatMap(({ parts }) => shownFiles(parts, target.kinds)));
  }
  return [...sent, ...filesOfResults(files, target)];
}

function filesOfResults(files: readonly ContentPart[], { kinds }: Target): ChatCompletionMessageParam[] {
  if (files.length === 0) return [];
  const parts: Part[] = [{ type: 'text', text: 'The files that the results above name:' }, ...files];
  return [{ role: 'user', content: openAiContent(parts, kinds) }];
}

function toWire(message: Message, target: Target): ChatCompletionMessageParam[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: openAiContent(message.parts, target.kinds) }];
    case 'assistant':
      return [assistant(message, target)];
    case 'tool':
      return resultsIn(message).map(({ callId, parts }) => ({
        role: 'tool',
        tool_call_id: target.idOf(callId),
        content: partsText(parts),
        ...target.named(callId),
      }));
  }
}

function resultsIn({ role, parts }: Message): ToolResultPart[] {
  return role === 'tool' ? parts.filter((part) => part.type === 'tool_result') : [];
}

/** The tool that a result is of: Gemini wants its name beside the id. */
function calledName(messages: readonly Message[], names: ToolNames): Target['named'] {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_call'));
  const called = new Map(calls.map(({ callId, name }) => [callId, name]));
  return (callId) => ({ name: names.wire(called.get(callId) ?? '') });
}

function assistant({ parts }: Message, { names, idOf, thinkingBack, signed, reasoned, noText }: Target): ChatCompletionMessageParam {
  const calls = parts.filter((part) => part.type === 'tool_call');
  const sent = parts.filter((part) => part.type === 'artifact' || part.type === 'file' || (part.type === 'text' && part.text !== ''));
  const content = sent.length === 0 ? undefined : partsText(sent);
  if (calls.length === 0) return { role: 'assistant', content: content ?? '(no text)' };
  return {
    role: 'assistant',
    content: content ?? noText,
    ...(thinkingBack ? { [thinkingBack]: thinkingText(parts) } : {}),
    ...reasoned(calls),
    tool_calls: calls.map((call, index) => ({
      id: idOf(call.callId),
      type: 'function',
      function: { name: names.wire(call.name), arguments: JSON.stringify(sentArguments(call)) },
      ...signed(call, index),
    })),
  };
}

/** What another format signed or encrypted is not this server's own. Servers that want the field refuse an answer without it, not an empty one. */
function thinkingText(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'thinking' && part.opaque === undefined ? part.text : '')).join('');
}

/** What a server of chat completions can be shown. */
export interface ShownKinds {
  readonly images: boolean;
  readonly files: boolean;
}

type InlineFile = FilePart & { readonly dataBase64: string };

const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** The parts of a user's message: what can be shown as it is, and all else as one text before it. */
function openAiContent(parts: readonly Part[], kinds: ShownKinds): string | ChatCompletionContentPart[] {
  const shown = shownFiles(parts, kinds);
  if (shown.length === 0) return partsText(parts);
  const rest = parts.filter((part) => part.type !== 'file' || !isShown(part, kinds));
  return rest.length === 0 ? shown.map(fileBlock) : [{ type: 'text', text: partsText(rest) }, ...shown.map(fileBlock)];
}

/** The files among parts that a server can be shown. */
export function shownFiles(parts: readonly Part[], kinds: ShownKinds): InlineFile[] {
  return parts.filter((part): part is InlineFile => part.type === 'file' && isShown(part, kinds));
}

function isShown(part: FilePart, { images, files }: ShownKinds): part is InlineFile {
  if (part.dataBase64 === undefined) return false;
  return part.mime === 'application/pdf' ? files : images && IMAGES.has(part.mime);
}

function fileBlock({ mime, dataBase64 }: InlineFile): ChatCompletionContentPart {
  const url = `data:${mime};base64,${dataBase64}`;
  if (IMAGES.has(mime)) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: 'document.pdf', file_data: url } };
}
