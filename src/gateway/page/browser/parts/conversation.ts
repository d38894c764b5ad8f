import { element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';
import { MarkdownText } from '../dom/render-tree.js';
import type { Item } from '../state/items-of.js';
import { AnswerPart } from './answer-part.js';

/** The items of runs, from top to bottom. */
export class Conversation {
  readonly element = element('div', { class: 'conversation' });
  readonly #list = new KeyedList<Item>(this.element, { keyOf: ({ key }) => key, create: partOf });

  /** Shows these items. */
  update(items: readonly Item[]): void {
    this.#list.update(items);
  }
}

function partOf({ kind }: Item): Part<Item> {
  switch (kind) {
    case 'message':
      return new MessagePart();
    case 'answer':
      return new AnswerItemPart();
    case 'note':
      return new NotePart();
  }
}

/** A message of a person, or of Perdure. */
class MessagePart implements Part<Item> {
  readonly #label = element('h3', { class: 'author' });
  readonly #text = new MarkdownText();
  readonly element = element('article', { class: 'message' }, this.#label, this.#text.element);

  update(item: Item): void {
    if (item.kind !== 'message') return;
    setText(this.#label, item.label);
    setAttributes(this.element, { class: item.isAside ? 'message aside' : 'message' });
    this.#text.update(item.text);
  }
}

class AnswerItemPart implements Part<Item> {
  readonly #answer = new AnswerPart();
  readonly element = this.#answer.element;

  update(item: Item): void {
    if (item.kind === 'answer') this.#answer.update(item.answer);
  }
}

/** A line about the run itself. */
class NotePart implements Part<Item> {
  readonly element = element('p', { class: 'note' });

  update(item: Item): void {
    if (item.kind !== 'note') return;
    setText(this.element, item.note.text);
    setAttributes(this.element, { class: item.note.isProblem ? 'note problem' : 'note' });
  }
}
