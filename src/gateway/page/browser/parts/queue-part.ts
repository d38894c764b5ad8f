import type { WaitingSend } from '../../../../contracts/schemas/session.js';
import { button, element, setAttributes, setText } from '../dom/element.js';
import { KeyedList, type Part } from '../dom/keyed-list.js';

/** What a queue needs of its page. */
export interface QueueOptions {
  /** Withdraws a message. Rejects with ApiError. */
  readonly withdraw: (id: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The messages of a session that wait for their answer. Those of other clients are known by their ids. */
export class QueuePart {
  readonly #texts = new Map<string, string>();
  readonly #rows = element('ol', { class: 'queue' });
  readonly element = element('section', { 'aria-label': 'Messages that wait', hidden: true }, this.#rows);
  readonly #list: KeyedList<WaitingSend>;

  constructor(options: QueueOptions) {
    this.#list = new KeyedList<WaitingSend>(this.#rows, {
      keyOf: ({ id }) => id,
      create: ({ id }) => new QueueRow(this.#texts.get(id) ?? id, { ...options, id }),
    });
  }

  /** Notes the text of a message that this tab sent. */
  note(id: string, text: string): void {
    this.#texts.set(id, text);
  }

  update(queued: readonly WaitingSend[]): void {
    setAttributes(this.element, { hidden: queued.length === 0 });
    this.#list.update(queued);
  }
}

class QueueRow implements Part<WaitingSend> {
  readonly #mode = element('span', { class: 'note' });
  readonly element: HTMLElement;

  constructor(text: string, { id, withdraw, onError }: QueueOptions & { readonly id: string }) {
    const remove = button('Withdraw', () => void withdraw(id).catch(onError), { 'aria-label': `Withdraw: ${text.slice(0, 80)}` });
    this.element = element('li', {}, element('span', { class: 'queued-text' }, text), this.#mode, remove);
  }

  update({ mode }: WaitingSend): void {
    setText(this.#mode, `waits (${mode})`);
  }
}
