import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { z } from 'zod';
import type { Part } from '../../contracts/message.js';
import type { Usage } from '../../contracts/model.js';
import type { AnthropicThinking } from './anthropic-messages.js';
import { toolCallPart } from './parse-arguments.js';
import type { StreamDelta } from './provider.js';
import { reportedUsage } from './reported-usage.js';

interface Block {
  readonly kind: 'text' | 'thinking' | 'redacted' | 'tool_use' | 'other';
  readonly id: string;
  readonly name: string;
  text: string;
  signature: string;
  open: boolean;
}

interface ReportedTokens {
  input: unknown;
  output: unknown;
  cacheRead: unknown;
  cacheWrite: unknown;
}

/** Puts the events of a message together. Judges nothing. */
export class AnthropicStream {
  readonly #onDelta: (delta: StreamDelta) => void;
  readonly #blocks = new Map<number, Block>();
  readonly #tokens: ReportedTokens = { input: undefined, output: undefined, cacheRead: undefined, cacheWrite: undefined };
  stopReason: string | undefined;
  stopped = false;
  events = 0;

  constructor(onDelta: (delta: StreamDelta) => void) {
    this.#onDelta = onDelta;
  }

  add(event: RawMessageStreamEvent): void {
    this.events += 1;
    switch (event.type) {
      case 'message_start':
        this.#report(event.message?.usage);
        return;
      case 'content_block_start':
        this.#start(event.index, event.content_block);
        return;
      case 'content_block_delta':
        this.#extend(event.index, event.delta);
        return;
      case 'content_block_stop':
        this.#close(event.index);
        return;
      case 'message_delta':
        this.stopReason = event.delta?.stop_reason ?? this.stopReason;
        this.#report(event.usage);
        return;
      case 'message_stop':
        this.stopped = true;
        return;
    }
  }

  hasOpenBlock(): boolean {
    return [...this.#blocks.values()].some((block) => block.open);
  }

  parts(): Part[] {
    return [...this.#blocks.values()].flatMap(toParts);
  }

  /** Input as reported excludes what came from or went to the cache; here it includes both. */
  usage(): Usage | undefined {
    const { input, output, cacheRead, cacheWrite } = this.#tokens;
    const total = [input, cacheRead ?? 0, cacheWrite ?? 0].reduce<number>(
      (sum, count) => sum + (typeof count === 'number' ? count : Number.NaN),
      0,
    );
    return reportedUsage({ input: total, output, cacheRead, cacheWrite });
  }

  #start(index: number, block: Extract<RawMessageStreamEvent, { type: 'content_block_start' }>['content_block']): void {
    const empty = { id: '', name: '', text: '', signature: '', open: true };
    switch (block.type) {
      case 'text':
        this.#blocks.set(index, { ...empty, kind: 'text', text: block.text ?? '' });
        return;
      case 'thinking':
        this.#blocks.set(index, { ...empty, kind: 'thinking', text: block.thinking ?? '', signature: block.signature ?? '' });
        return;
      case 'redacted_thinking':
        this.#blocks.set(index, { ...empty, kind: 'redacted', text: block.data });
        return;
      case 'tool_use':
        this.#blocks.set(index, { ...empty, kind: 'tool_use', id: block.id, name: block.name });
        this.#onDelta({ type: 'tool_call', name: block.name });
        return;
      default:
        this.#blocks.set(index, { ...empty, kind: 'other' });
    }
  }

  #extend(index: number, delta: Extract<RawMessageStreamEvent, { type: 'content_block_delta' }>['delta']): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    if (delta.type === 'text_delta') {
      block.text += delta.text;
      this.#onDelta({ type: 'text', text: delta.text });
    } else if (delta.type === 'thinking_delta') {
      block.text += delta.thinking;
      this.#onDelta({ type: 'thinking', text: delta.thinking });
    } else if (delta.type === 'input_json_delta') {
      block.text += delta.partial_json;
    } else if (delta.type === 'signature_delta') {
      block.signature += delta.signature;
    }
  }

  #close(index: number): void {
    const block = this.#blocks.get(index);
    if (block) block.open = false;
  }

  #report(usage: object | null | undefined): void {
    if (!usage) return;
    const fields = {
      input: 'input_tokens',
      output: 'output_tokens',
      cacheRead: 'cache_read_input_tokens',
      cacheWrite: 'cache_creation_input_tokens',
    } as const;
    for (const key of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) {
      const value: unknown = Reflect.get(usage, fields[key]);
      if (value !== undefined && value !== null) this.#tokens[key] = value;
    }
  }
}

function toParts(block: Block): Part[] {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }];
    case 'thinking':
      return [{ type: 'thinking', text: block.text, opaque: opaque({ signature: block.signature }) }];
    case 'redacted':
      return [{ type: 'thinking', text: '', opaque: opaque({ redacted: block.text }) }];
    case 'tool_use':
      return [toolCallPart(block.id, block.name, block.text)];
    case 'other':
      return [];
  }
}

function opaque(value: z.infer<typeof AnthropicThinking>): string {
  return JSON.stringify(value);
}
