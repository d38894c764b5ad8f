import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Part } from '../../contracts/message.js';
import type { Usage } from '../../contracts/model.js';
import { toolCallPart } from './parse-arguments.js';
import type { StreamDelta } from './provider.js';
import { reportedUsage } from './reported-usage.js';

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
}

/** Puts the chunks of a chat completion together. Judges nothing. */
export class OpenAiStream {
  readonly #onDelta: (delta: StreamDelta) => void;
  readonly #calls = new Map<number, OpenCall>();
  #text = '';
  #thinking = '';
  #usage: ChatCompletionChunk['usage'];
  finishReason: string | undefined;
  events = 0;

  constructor(onDelta: (delta: StreamDelta) => void) {
    this.#onDelta = onDelta;
  }

  add(chunk: ChatCompletionChunk): void {
    this.events += 1;
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.find(({ index }) => index === 0 || index === undefined);
    if (!choice) return;
    const { delta } = choice;
    this.#addText(delta?.content ?? delta?.refusal);
    this.#addThinking(reasoningOf(delta));
    for (const call of delta?.tool_calls ?? []) this.#addCall(call);
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
  }

  hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  /** True when what came could stand as an answer: some text, and no call whose end is unknown. */
  isWhole(): boolean {
    return this.#text !== '' && this.#calls.size === 0;
  }

  parts(): Part[] {
    const thinking: Part[] = this.#thinking === '' ? [] : [{ type: 'thinking', text: this.#thinking }];
    const text: Part[] = this.#text === '' ? [] : [{ type: 'text', text: this.#text }];
    const calls = [...this.#calls.values()].map((call) => toolCallPart(call.id, call.name, call.arguments));
    return [...thinking, ...text, ...calls];
  }

  usage(): Usage | undefined {
    if (!this.#usage) return undefined;
    return reportedUsage({
      input: this.#usage.prompt_tokens,
      output: this.#usage.completion_tokens,
      cacheRead: this.#usage.prompt_tokens_details?.cached_tokens,
      reasoning: this.#usage.completion_tokens_details?.reasoning_tokens,
    });
  }

  #addText(text: string | null | undefined): void {
    if (!text) return;
    this.#text += text;
    this.#onDelta({ type: 'text', text });
  }

  #addThinking(text: string): void {
    if (text === '') return;
    this.#thinking += text;
    this.#onDelta({ type: 'thinking', text });
  }

  #addCall(piece: NonNullable<ChatCompletionChunk.Choice.Delta['tool_calls']>[number]): void {
    const open = this.#calls.get(piece.index);
    const call = open ?? { id: piece.id ?? `call_${piece.index}`, name: '', arguments: '' };
    if (!open) this.#calls.set(piece.index, call);
    const name = piece.function?.name ?? '';
    call.name += name;
    call.arguments += piece.function?.arguments ?? '';
    if (name !== '') this.#onDelta({ type: 'tool_call', name });
  }
}

/** Compatible servers send reasoning under a field of their own. */
function reasoningOf(delta: ChatCompletionChunk.Choice.Delta | undefined): string {
  if (!delta) return '';
  for (const field of ['reasoning_content', 'reasoning']) {
    const value: unknown = Reflect.get(delta, field);
    if (typeof value === 'string') return value;
  }
  return '';
}
