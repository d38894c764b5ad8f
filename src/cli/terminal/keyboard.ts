import { emitKeypressEvents, type Key } from 'node:readline';
import type { Draft, Edit } from './line-editor.js';

/** A key that was pressed: one that edits the line, or one with a meaning of its own. */
export type Pressed =
  | Edit
  | { readonly kind: 'enter' }
  | { readonly kind: 'escape' }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'end-of-input' };

/** The input of a terminal. */
export interface TerminalInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}

/** Takes the keys of a terminal. */
export interface KeyReceiver {
  readonly onPressed: (pressed: Pressed) => void;
  /** Called before Ctrl-Z stops the process, and when it continues. */
  readonly onSuspend?: () => void;
  readonly onResume?: () => void;
}

/** The keys of a command, and the line that they edit. */
export interface Keys {
  readonly draft: Draft;
  /** Sends each key to a receiver, until the returned function is called. */
  listen(receiver: KeyReceiver): () => void;
  /** Leaves the run, which continues. */
  detach(): void;
}

/** A process that still runs after this time was not stopped. */
const RESUME_MS = 100;
const PASTE_MARKS_ON = '\u001b[?2004h';
const PASTE_MARKS_OFF = '\u001b[?2004l';

/** The keys of Emacs and of shells. */
const CONTROL_KEYS: Readonly<Record<string, Pressed>> = {
  a: { kind: 'home' },
  b: { kind: 'left' },
  c: { kind: 'interrupt' },
  d: { kind: 'end-of-input' },
  e: { kind: 'end' },
  f: { kind: 'right' },
  h: { kind: 'backspace' },
  k: { kind: 'delete-behind' },
  u: { kind: 'delete-before' },
  w: { kind: 'delete-word' },
};
const NAMED_KEYS: Readonly<Record<string, Pressed>> = {
  return: { kind: 'enter' },
  enter: { kind: 'enter' },
  escape: { kind: 'escape' },
  backspace: { kind: 'backspace' },
  delete: { kind: 'delete' },
  left: { kind: 'left' },
  right: { kind: 'right' },
  home: { kind: 'home' },
  end: { kind: 'end' },
};

/** Reads the keys of a terminal one by one, without echo. A pasted text is one insertion, also with line breaks in it. */
export class Keyboard {
  readonly #input: TerminalInput;
  readonly #write: (text: string) => unknown;
  readonly #receiver: KeyReceiver;
  readonly #onKeypress = (characters: string | undefined, key: Key): void => this.#take(characters, key);
  readonly #onExit = (): void => this.stop();
  readonly #onContinue = (): void => this.#resume();
  #pasted: string | undefined;
  #isOn = false;
  #resuming: NodeJS.Timeout | undefined;

  /** `write` writes to the terminal of the input. */
  constructor(input: TerminalInput, write: (text: string) => unknown, receiver: KeyReceiver) {
    this.#input = input;
    this.#write = write;
    this.#receiver = receiver;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#endSuspension();
    process.once('exit', this.#onExit);
    emitKeypressEvents(this.#input);
    this.#input.on('keypress', this.#onKeypress);
    this.#input.setRawMode?.(true);
    this.#input.resume();
    this.#write(PASTE_MARKS_ON);
  }

  /** Gives the terminal back as it was. */
  stop(): void {
    this.#endSuspension();
    if (!this.#isOn) return;
    this.#isOn = false;
    process.off('exit', this.#onExit);
    this.#write(PASTE_MARKS_OFF);
    this.#input.off('keypress', this.#onKeypress);
    this.#input.setRawMode?.(false);
    this.#input.pause();
  }

  #take(characters: string | undefined, key: Key): void {
    if (key.name === 'paste-start') this.#pasted = '';
    else if (key.name === 'paste-end') this.#endPaste();
    else if (this.#pasted !== undefined) this.#pasted += characters ?? '';
    else if (key.ctrl && key.name === 'z') this.#suspend();
    else {
      const pressed = pressedKey(characters, key);
      if (pressed) this.#receiver.onPressed(pressed);
    }
  }

  #endPaste(): void {
    const text = (this.#pasted ?? '').replaceAll(/\r\n?/gu, '\n');
    this.#pasted = undefined;
    if (text !== '') this.#receiver.onPressed({ kind: 'insert', text });
  }

  /** Ctrl-Z stops the process until the shell continues it. Without job control the system ignores it. */
  #suspend(): void {
    this.stop();
    this.#receiver.onSuspend?.();
    process.once('SIGCONT', this.#onContinue);
    this.#resuming = setTimeout(this.#onContinue, RESUME_MS);
    process.kill(process.pid, 'SIGTSTP');
  }

  #endSuspension(): void {
    clearTimeout(this.#resuming);
    process.off('SIGCONT', this.#onContinue);
  }

  #resume(): void {
    if (this.#isOn) return;
    this.start();
    this.#receiver.onResume?.();
  }
}

function pressedKey(characters: string | undefined, { name = '', ctrl, meta }: Key): Pressed | undefined {
  if (ctrl) return CONTROL_KEYS[name];
  if (NAMED_KEYS[name]) return NAMED_KEYS[name];
  const isText = characters !== undefined && !meta && !/\p{Cc}/u.test(characters);
  return isText ? { kind: 'insert', text: characters } : undefined;
}
