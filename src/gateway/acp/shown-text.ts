/** Text for the end of a message. `isAnew`: what was shown of the message before is not its beginning. */
export interface TextToShow {
  readonly text: string;
  readonly isAnew: boolean;
}

/**
 * The text of one answer at a client that cannot take text back. An attempt that repeats what was shown adds what follows it. One that
 * differs is shown anew, as another message.
 */
export class ShownText {
  #shown = '';
  #now = '';
  #restarts = 0;

  /** How often the text was shown anew. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Begins another attempt. */
  restart(): void {
    this.#now = '';
  }

  /** Takes the next piece of the attempt. Returns the text to show, if there is any. */
  add(delta: string): TextToShow | undefined {
    this.#now += delta;
    if (this.#shown.startsWith(this.#now)) return undefined;
    const isAnew = !this.#now.startsWith(this.#shown);
    const text = isAnew ? this.#now : this.#now.slice(this.#shown.length);
    if (isAnew) this.#restarts += 1;
    this.#shown = this.#now;
    return { text, isAnew };
  }
}
