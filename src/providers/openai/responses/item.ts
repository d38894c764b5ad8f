import type { ResponseOutputItem, ResponseOutputMessage, ResponseReasoningItem } from 'openai/resources/responses/responses';
import type { Part } from '../../../contracts/schemas/message.js';
import type { StreamDelta } from '../../contract/provider.js';
import { streamText } from '../../http/read-stream.js';
import { parseArgumentsText, toolCallPart } from '../../transcript/parse-arguments.js';
import type { ToolNames } from '../../transcript/tool-names.js';
import { type Following, keptReasoning } from './reasoning.js';

/** One item of an answer while it streams: a text, a call, or a piece of reasoning. */
export class ResponsesItem {
  readonly #onDelta: (delta: StreamDelta) => void;
  #item: ResponseOutputItem;
  /** Text, thinking or arguments, as far as they came. */
  #text = '';
  isDone = false;
  /** Its own end came: what comes next at its place is another item. */
  hasEnded = false;
  isRefusal = false;

  constructor(
    item: ResponseOutputItem,
    { onDelta, names }: { readonly onDelta: (delta: StreamDelta) => void; readonly names: Pick<ToolNames, 'own'> },
  ) {
    this.#onDelta = onDelta;
    this.#item = item;
    checkItem(item);
    if (item.type === 'function_call') onDelta({ type: 'tool_call', name: names.own(item.name ?? '') });
  }

  get id(): string | undefined {
    return this.#item.id ?? undefined;
  }

  get isCall(): boolean {
    return this.#item.type === 'function_call';
  }

  /** Something that reasoning leads to: a call, or a text with words in it. */
  get isAnswer(): boolean {
    return this.isCall || this.hasText;
  }

  get hasText(): boolean {
    return this.#item.type === 'message' && this.#text !== '';
  }

  /** The server itself says that it was cut. */
  get isCut(): boolean {
    return 'status' in this.#item && this.#item.status === 'incomplete';
  }

  /** A call whose arguments stop in their middle, as far as they can be read. */
  get isHalfCall(): boolean {
    return this.isCall && (!this.isDone || (this.#text.trim() !== '' && 'problem' in parseArgumentsText(this.#text)));
  }

  extend(text: string): void {
    if (text === '') return;
    this.#text += text;
    if (this.#item.type === 'message') this.#onDelta({ type: 'text', text });
    if (this.#item.type === 'reasoning') this.#onDelta({ type: 'thinking', text });
  }

  refuse(text: string): void {
    this.isRefusal = true;
    this.extend(text);
  }

  /** A further piece of a summary begins: a paragraph of its own. */
  startParagraph(): void {
    if (this.#text !== '') this.extend('\n\n');
  }

  endArguments(text: string | undefined): void {
    this.#text = streamText(text ?? this.#text);
    this.isDone = true;
  }

  /** The whole item: what streamed of its text stands, and what did not stream it brings. */
  end(item: ResponseOutputItem): void {
    checkItem(item);
    this.#item = item;
    this.isDone = true;
    this.hasEnded = true;
    if (item.type === 'message') this.isRefusal ||= (item.content ?? []).some(({ type }) => type === 'refusal');
    if (item.type === 'function_call') this.#text = streamText(item.arguments ?? this.#text);
    if (this.#text !== '') return;
    if (item.type === 'message') this.extend(messageText(item));
    if (item.type === 'reasoning') this.extend(reasoningText(item));
  }

  /** What a transcript keeps of the item, if anything. `following` is the item that it must be sent back with. */
  part(origin: string, following: Following | undefined): Part | undefined {
    const item = this.#item;
    if (item.type === 'message') return this.#text === '' ? undefined : { type: 'text', text: this.#text };
    if (item.type === 'function_call') return toolCallPart(item.call_id ?? item.id ?? '', item.name ?? '', this.#text);
    if (item.type !== 'reasoning') return undefined;
    const opaque = this.isDone ? keptReasoning(item, { origin, following }) : undefined;
    if (this.#text === '' && opaque === undefined) return undefined;
    return { type: 'thinking', text: this.#text, ...(opaque === undefined ? {} : { opaque }) };
  }

  /** How reasoning names this item when it comes before it; undefined for one without a name. */
  asFollowing(): Following | undefined {
    const { type, id } = this.#item;
    return (type === 'message' || type === 'function_call') && id ? { type, id } : undefined;
  }
}

/** Throws a TypeError for an item that no part can be made of. */
function checkItem(item: ResponseOutputItem): void {
  if (item.type === 'function_call') [item.id, item.call_id, item.name].forEach(streamText);
  if (item.type === 'reasoning' && !Array.isArray(item.summary ?? [])) throw new TypeError('a summary that is no list');
}

function messageText({ content }: ResponseOutputMessage): string {
  return (content ?? []).map((block) => streamText(block.type === 'output_text' ? block.text : block.refusal)).join('');
}

/** Models that show their reasoning itself send it as content, without a summary. */
function reasoningText({ summary, content }: ResponseReasoningItem): string {
  const texts = summary?.length > 0 ? summary : (content ?? []);
  return texts.map(({ text }) => streamText(text)).join('\n\n');
}
