import { button, element, setAttributes } from '../dom/element.js';

/** What the buttons of a run do. Each rejects with ApiError. */
export interface RunActions {
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The buttons of an open run: pause or resume, and cancel, which asks once more. */
export class Controls {
  readonly #actions: RunActions;
  readonly #pause = button('Pause', () => void this.#do(this.#pause, () => this.#actions.pause()));
  readonly #resume = button('Resume', () => void this.#do(this.#resume, () => this.#actions.resume()));
  readonly #cancel = button('Cancel', () => this.#ask());
  readonly #confirm = button('Cancel the run', () => void this.#cancelRun(), { class: 'danger' });
  readonly #keep = button('Keep it', () => this.#settle());
  readonly #question = element(
    'span',
    { class: 'confirm', role: 'group', 'aria-label': 'Cancel the run?', hidden: true },
    this.#confirm,
    this.#keep,
  );
  readonly element = element('div', { class: 'controls', hidden: true }, this.#pause, this.#resume, this.#cancel, this.#question);

  constructor(actions: RunActions) {
    this.#actions = actions;
  }

  update({ isOpen, isPaused }: { readonly isOpen: boolean; readonly isPaused: boolean }): void {
    setAttributes(this.element, { hidden: !isOpen });
    setAttributes(this.#pause, { hidden: isPaused });
    setAttributes(this.#resume, { hidden: !isPaused });
  }

  #ask(): void {
    setAttributes(this.#cancel, { hidden: true });
    setAttributes(this.#question, { hidden: false });
    this.#confirm.focus();
  }

  #settle(): void {
    setAttributes(this.#cancel, { hidden: false });
    setAttributes(this.#question, { hidden: true });
    this.#cancel.focus();
  }

  async #cancelRun(): Promise<void> {
    await this.#do(this.#confirm, () => this.#actions.cancel());
    this.#settle();
  }

  async #do(source: HTMLButtonElement, action: () => Promise<void>): Promise<void> {
    source.disabled = true;
    try {
      await action();
    } catch (error) {
      this.#actions.onError(error);
    } finally {
      source.disabled = false;
    }
  }
}
