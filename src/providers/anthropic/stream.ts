import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { Part } from '../../contracts/schemas/message.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { StreamDelta } from '../contract/provider.js';
import { streamText } from '../http/read-stream.js';
import { toolCallPart } from '../transcript/parse-arguments.js';
import type { ToolNames } from '../transcript/tool-names.js';
import { reportedUsage } from '../transcript/usage.js';
import { opaqueThinking } from './thinking-blocks.js';

type StartedBlock = Extract<RawMessageStreamEvent, { type: 'content_block_start' }>['content_block'];

interface Block {
  readonly index: number;
  readonly kind: 'text' | 'thinking' | 'redacted' | 'tool_use' | 'other';
  readonly id: string;
  readonly name: string;
  /** Arguments that came whole with the block's start, as some compatible servers send them. */
  readonly input: unknown;
  text: string;
  signature: string;
  open: boolean;
}

const OutputDetails = z.object({ thinking_tokens: z.number() });

/** What the reader of an answer must know of its request. */
export interface AnthropicStreamOptions {
  readonly onDelta: (delta: StreamDelta) => void;
  /** False: an answer is complete without `message_stop`. */
  readonly strictTerminal: boolean;
  readonly model: string;
  readonly names: Pick<ToolNames, 'own'>;
  /** The digest of all that the model read; undefined where nobody asks for it. Called only when the model thought. */
  readonly after: () => string | undefined;
}

/** Puts the events of a message together. Judges nothing. */
export class AnthropicStream {
  readonly #options: AnthropicStreamOptions;
  /** In the order in which they began: some servers give one index to several. */
  readonly #blocks: Block[] = [];
  readonly #reported = new Map<string, unknown>();
  stopReason: string | undefined;
  #stopped = false;
  events = 0;

  constructor(options: AnthropicStreamOptions) {
    this.#options = options;
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
        this.#stopped = true;
        return;
    }
  }

  /** Complete means: `message_stop` seen, a stop reason, and every started block stopped. */
  isComplete(): boolean {
    const ended = this.stopReason !== undefined && (this.#stopped || !this.#options.strictTerminal);
    return ended && this.#blocks.every((block) => !block.open);
  }

  parts(): Part[] {
    return this.#blocks.flatMap((block) => this.#toParts(block));
  }

  /** Input as reported excludes what came from or went to the cache; here it includes both. */
  usage(): Usage | undefined {
    const cacheRead = this.#reported.get('cache_read_input_tokens') ?? 0;
    const cacheWrite = this.#reported.get('cache_creation_input_tokens') ?? 0;
    const counts = [this.#reported.get('input_tokens'), cacheRead, cacheWrite];
    const input = counts.reduce<number>((sum, count) => sum + (typeof count === 'number' && count >= 0 ? count : Number.NaN), 0);
    const details = OutputDetails.safeParse(this.#reported.get('output_tokens_details')).data;
    return reportedUsage({
      input,
      output: this.#reported.get('output_tokens'),
      cacheRead,
      cacheWrite,
      reasoning: details?.thinking_tokens,
    });
  }

  #start(index: number, started: StartedBlock): void {
    const block = toBlock(started, { index, names: this.#options.names });
    this.#blocks.push(block);
    if (block.kind === 'tool_use') this.#options.onDelta({ type: 'tool_call', name: block.name });
  }

  #extend(index: number, delta: Extract<RawMessageStreamEvent, { type: 'content_block_delta' }>['delta']): void {
    const block = this.#blockAt(index);
    // without its beginning a block has no kind: what it says would be missing from the answer
    if (!block) throw new TypeError(`a piece of block ${index}, which did not begin`);
    if (delta.type === 'text_delta') {
      this.#say(block, 'text', streamText(delta.text));
    } else if (delta.type === 'thinking_delta') {
      this.#say(block, 'thinking', streamText(delta.thinking));
    } else if (delta.type === 'input_json_delta') {
      block.text += streamText(delta.partial_json);
    } else if (delta.type === 'signature_delta') {
      block.signature += streamText(delta.signature);
    }
  }

  #say(block: Block, type: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    block.text += text;
    this.#options.onDelta({ type, text });
  }

  #close(index: number): void {
    const block = this.#blockAt(index);
    if (block) block.open = false;
  }

  #blockAt(index: number): Block | undefined {
    return this.#blocks.findLast((block) => block.index === index);
  }

  #toParts(block: Block): Part[] {
    switch (block.kind) {
      case 'text':
        return block.text === '' ? [] : [{ type: 'text', text: block.text }];
      case 'thinking':
        // unsigned thinking, as compatible servers send it, cannot be sent back
        if (block.signature === '') return [{ type: 'thinking', text: block.text }];
        return [{ type: 'thinking', text: block.text, opaque: opaqueThinking({ signature: block.signature, ...this.#madeBy() }) }];
      case 'redacted':
        return [{ type: 'thinking', text: '', opaque: opaqueThinking({ redacted: block.text, ...this.#madeBy() }) }];
      case 'tool_use':
        return [toolCallPart(block.id, block.name, block.text === '' ? JSON.stringify(block.input ?? {}) : block.text)];
      case 'other':
        return [];
    }
  }

  #madeBy(): { readonly model: string; readonly after?: string } {
    const after = this.#options.after();
    return { model: this.#options.model, ...(after === undefined ? {} : { after }) };
  }

  /** The counts are totals so far: a later one replaces an earlier one, and null says nothing. */
  #report(usage: object | null | undefined): void {
    for (const [name, value] of Object.entries(usage ?? {})) {
      if (value !== null && value !== undefined) this.#reported.set(name, value);
    }
  }
}

function toBlock(started: StartedBlock, { index, names }: { readonly index: number; readonly names: Pick<ToolNames, 'own'> }): Block {
  const empty = { index, id: '', name: '', input: undefined, text: '', signature: '', open: true };
  if (started.type === 'text') return { ...empty, kind: 'text', text: streamText(started.text) };
  if (started.type === 'thinking')
    return { ...empty, kind: 'thinking', text: streamText(started.thinking), signature: streamText(started.signature) };
  if (started.type === 'redacted_thinking') return { ...empty, kind: 'redacted', text: streamText(started.data) };
  if (started.type === 'tool_use') {
    return { ...empty, kind: 'tool_use', id: streamText(started.id), name: names.own(streamText(started.name)), input: started.input };
  }
  return { ...empty, kind: 'other' };
}
