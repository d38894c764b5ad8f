import { addUsage, NO_USAGE } from '../../contracts/models/usage.js';
import type { Part } from '../../contracts/schemas/message.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { ModelAnswer, ModelRequest } from '../contract/provider.js';
import { toolCallPart } from '../transcript/parse-arguments.js';
import type { ChildCall } from './protocol.js';

/** What a child said of its answer so far, passed on as it comes. */
export class AnswerRelay {
  readonly #onDelta: ModelRequest['onDelta'];
  #text = '';
  #thinking = '';
  #usage: Usage | undefined;

  constructor(onDelta: ModelRequest['onDelta']) {
    this.#onDelta = onDelta;
  }

  text(text: string): void {
    this.#text += text;
    this.#onDelta({ type: 'text', text });
  }

  thinking(text: string): void {
    this.#thinking += text;
    this.#onDelta({ type: 'thinking', text });
  }

  /** A child may ask several models for one answer. */
  usage(usage: Usage): void {
    this.#usage = addUsage(this.#usage ?? NO_USAGE, usage);
  }

  /** The answer that ends in calls. */
  calls(calls: readonly ChildCall[]): ModelAnswer {
    for (const { name } of calls) this.#onDelta({ type: 'tool_call', name });
    const parts = calls.map(({ id, name, args }, index) => toolCallPart(id ?? String(index), name, JSON.stringify(args)));
    return this.#answer(this.#text, parts);
  }

  /** The final answer: `whole`, or what was streamed. Watchers are shown what they have not seen of it. */
  final(whole: string = this.#text): ModelAnswer {
    if (whole.startsWith(this.#text) && whole !== this.#text) this.#onDelta({ type: 'text', text: whole.slice(this.#text.length) });
    return this.#answer(whole, []);
  }

  #answer(text: string, calls: readonly Part[]): ModelAnswer {
    const thinking: Part[] = this.#thinking === '' ? [] : [{ type: 'thinking', text: this.#thinking }];
    const textParts: Part[] = text === '' ? [] : [{ type: 'text', text }];
    return {
      parts: [...thinking, ...textParts, ...calls],
      stop: calls.length > 0 ? 'tool_calls' : 'end',
      ...(this.#usage ? { usage: this.#usage } : {}),
    };
  }
}
