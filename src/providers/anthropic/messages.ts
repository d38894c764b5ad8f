import type { ContentBlockParam, TextBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { Message } from '../../contracts/schemas/message.js';
import type { ToolNames } from '../transcript/tool-names.js';
import { anthropicBlock } from './blocks.js';
import { type ThinkingPlace, thinkingBlock } from './thinking-blocks.js';

/** A message as it is sent. */
export interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/** Where a block stands: in which message, and which one of it. */
export interface BlockPlace {
  readonly message: number;
  readonly block: number;
}

/** What the messages are written for. `prefix` begins with the prompt and the tools, and all that is written is added to it. */
export interface AnthropicTarget extends ThinkingPlace {
  readonly names: ToolNames;
}

/**
 * A transcript in the wire format of the messages API: neighbouring messages of one side are one message, tool results come first in
 * theirs, no block is empty, and a user begins. What is written once stays as it is whatever is added later, so that what a server keeps
 * of a prompt is found again.
 */
export class AnthropicMessages {
  readonly #target: AnthropicTarget;
  readonly #written: AnthropicMessage[] = [];

  constructor(target: AnthropicTarget) {
    this.#target = target;
  }

  get written(): readonly AnthropicMessage[] {
    return this.#written;
  }

  /** The last block so far. */
  get end(): BlockPlace | undefined {
    const message = this.#written.length - 1;
    const block = (this.#written[message]?.content.length ?? 0) - 1;
    return block < 0 ? undefined : { message, block };
  }

  /** Writes messages behind those that are there. The results of an answer's calls must not be parted. */
  add(messages: readonly Message[]): this {
    let collected: Message[] = [];
    for (const message of messages) {
      if (message.role !== 'assistant') {
        collected.push(message);
        continue;
      }
      this.#addUser(collected);
      collected = [];
      this.#addAnswer(message);
    }
    this.#addUser(collected);
    return this;
  }

  #addUser(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const blocks = messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'thinking' ? [] : anthropicBlock(part, this.#target.names))),
    );
    const results = blocks.filter(({ type }) => type === 'tool_result');
    this.#write('user', [...results, ...blocks.filter(({ type }) => type !== 'tool_result')]);
  }

  #addAnswer({ parts }: Message): void {
    // what was cut out of a longer conversation may begin with an answer, which the API refuses
    if (this.#written.length === 0) this.#write('user', [CUT_BEFORE]);
    const blocks = parts.flatMap((part) =>
      part.type === 'thinking' ? thinkingBlock(part, this.#target) : anthropicBlock(part, this.#target.names),
    );
    this.#write('assistant', blocks);
  }

  #write(role: 'user' | 'assistant', blocks: readonly ContentBlockParam[]): void {
    const last = this.#written.at(-1);
    const isSame = last?.role === role;
    // the API refuses a message without content
    const content = blocks.length > 0 || isSame ? [...blocks] : [NO_TEXT];
    if (isSame) last.content.push(...content);
    else this.#written.push({ role, content });
    for (const block of content) this.#target.prefix.add(role, block);
  }
}

const CUT_BEFORE: TextBlockParam = { type: 'text', text: '(what was said before is not shown)' };
const NO_TEXT: TextBlockParam = { type: 'text', text: '(no text)' };
