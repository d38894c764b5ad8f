import type { KeyReceiver, Keys, Pressed } from '../terminal/keyboard.js';
import { Draft, editLine, NOTHING_TYPED } from '../terminal/line-editor.js';

/**
 * The keys of a whole conversation. The prompt and the controls of a run receive them in turn. The terminal stays as it is in between, so that
 * nothing that is typed there is echoed or lost: it edits the same line, and Enter keeps it as the next message.
 */
export class ConversationKeys implements Keys {
  readonly draft = new Draft();
  /** The lines that were entered while nothing received keys, oldest first. */
  readonly entered: string[] = [];
  /** Called when a key changed the line while nothing received keys. */
  onDraft: (() => void) | undefined;
  readonly #keys: Keys;
  readonly #stop: () => void;
  #receiver: KeyReceiver | undefined;

  constructor(keys: Keys) {
    this.#keys = keys;
    this.#stop = keys.listen({
      onPressed: (pressed) => (this.#receiver ? this.#receiver.onPressed(pressed) : this.#pressBetween(pressed)),
      onSuspend: () => this.#receiver?.onSuspend?.(),
      onResume: () => this.#receiver?.onResume?.(),
    });
  }

  listen(receiver: KeyReceiver): () => void {
    this.#receiver = receiver;
    return () => {
      if (this.#receiver === receiver) this.#receiver = undefined;
    };
  }

  detach(): void {
    this.close();
    this.#keys.detach();
  }

  /** Gives the terminal back. */
  close(): void {
    this.#stop();
  }

  #pressBetween(pressed: Pressed): void {
    const { text } = this.draft.typed;
    if (pressed.kind === 'interrupt' && text === '') return this.detach();
    if (pressed.kind === 'enter') {
      if (text.trim() === '') return;
      this.entered.push(text);
      this.draft.typed = NOTHING_TYPED;
    } else if (pressed.kind === 'interrupt' || pressed.kind === 'escape') this.draft.typed = NOTHING_TYPED;
    else this.draft.typed = editLine(this.draft.typed, pressed.kind === 'end-of-input' ? { kind: 'delete' } : pressed);
    this.onDraft?.();
  }
}
