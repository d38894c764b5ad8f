import { element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import { MarkdownText } from '../dom/render-tree.js';
import type { ShownAnswer, ShownCall } from '../state/items-of.js';
import { CallPart } from './call-part.js';

/** An answer of the model: its thinking, folded, its text as Markdown, and its calls. */
export class AnswerPart implements Part<ShownAnswer> {
  readonly #label = element('h3', { class: 'author' });
  readonly #thinking = new ThinkingPart();
  readonly #text = new MarkdownText();
  readonly #calls = element('div', { class: 'calls' });
  readonly #list = new KeyedList<ShownCall>(this.#calls, { keyOf: ({ callId }) => callId, create: () => new CallPart() });
  readonly element = element('article', { class: 'answer' }, this.#label, this.#thinking.element, this.#text.element, this.#calls);

  update({ turn, text, thinking, isFinal, isLive, isPartial, calls }: ShownAnswer): void {
    setText(this.#label, `Agent, ${isFinal ? 'final answer' : `turn ${turn}`}${isPartial ? ', interrupted' : ''}`);
    setAttributes(this.element, { class: isLive ? 'answer live' : 'answer', 'aria-busy': isLive ? 'true' : undefined });
    this.#thinking.update(thinking);
    this.#text.update(text);
    setAttributes(this.#text.element, { hidden: text === '' });
    this.#list.update(calls);
  }
}

/** The thinking of a model, folded until a reader opens it. */
class ThinkingPart implements Part<string> {
  readonly #text = new MarkdownText();
  readonly element = element('details', { class: 'thinking', hidden: true }, element('summary', {}, 'Thinking'), this.#text.element);

  constructor() {
    this.element.addEventListener('toggle', () => this.#show());
  }

  #given = '';

  update(thinking: string): void {
    this.#given = thinking;
    setAttributes(this.element, { hidden: thinking === '' });
    this.#show();
  }

  /** Folded text costs nothing. */
  #show(): void {
    if (this.element.open) this.#text.update(this.#given);
  }
}
