import { newMessageId } from '../api/gateway-api.js';
import { element, labelled, setAttributes, setText } from '../dom/element.js';

/** What a composer needs of its page. */
export interface ComposerOptions {
  readonly label: string;
  /** Text of the button. */
  readonly action: string;
  /** Sends a message. Rejects with ApiError; the text stays then, and is sent again under the same id. */
  readonly send: (message: { readonly id: string; readonly text: string; readonly mode: string }) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** What happens to a message: values of the API with their words. The first one is the default. */
  readonly modes: readonly (readonly [value: string, words: string])[];
}

/** A box to write a message: Enter sends it, Shift+Enter begins a new line. */
export class Composer {
  readonly #options: ComposerOptions;
  readonly #field = element('textarea', { rows: '2', 'aria-describedby': 'composer-hint' });
  readonly #mode = element('select');
  readonly #send: HTMLButtonElement;
  readonly #hint = element('p', { id: 'composer-hint', class: 'hint' });
  readonly element: HTMLFormElement;
  #id = newMessageId();

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#send = element('button', { type: 'submit' }, options.action);
    this.#mode.append(...options.modes.map(([value, words]) => element('option', { value }, words)));
    const [label, field] = labelled(options.label, this.#field, 'composer');
    const [modeLabel, mode] = labelled('Delivery', this.#mode, 'composer-mode');
    setAttributes(modeLabel, { class: 'announced' });
    const actions = element('div', { class: 'composer-actions' }, this.#hint, modeLabel, mode, this.#send);
    this.element = element('form', { class: 'composer' }, label, field, actions);
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.#submit();
    });
  }

  /** Shows a line below the box, such as the number of messages that wait. */
  showHint(text: string): void {
    setText(this.#hint, text);
  }

  focus(): void {
    this.#field.focus();
  }

  async #submit(): Promise<void> {
    const text = this.#field.value.trim();
    if (text === '' || this.#send.disabled) return;
    this.#send.disabled = true;
    try {
      await this.#options.send({ id: this.#id, text, mode: this.#mode.value });
      this.#id = newMessageId();
      // what was written meanwhile stays
      if (this.#field.value.trim() === text) this.#field.value = '';
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#send.disabled = false;
    }
  }
}
