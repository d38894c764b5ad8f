import type { Mark } from './chat-template.js';

/**
 * Gathers the text of a call up to its closing mark, piece by piece. A mark within a string of the call's JSON is a part of that string,
 * unless the string holds a line break and so is no JSON anyway.
 */
export class CallBody {
  readonly mark: Mark;
  readonly #pieces: string[] = [];
  #chars = 0;
  #matched = 0;
  #inString = false;
  #isEscaped = false;
  #isBroken = false;
  /** Where a closing mark stood that was taken for a part of a string. */
  #passedAt: number | undefined;

  constructor(mark: Mark) {
    this.mark = mark;
  }

  /** Takes a piece; gives what comes after the closing mark, or undefined while there is none. */
  add(piece: string): string | undefined {
    for (let at = 0; at < piece.length; at += 1) {
      if (!this.#closes(piece.charAt(at))) continue;
      if (!this.#inString || this.#isBroken) {
        this.#pieces.push(piece.slice(0, at + 1));
        return piece.slice(at + 1);
      }
      this.#passedAt ??= this.#chars + at + 1;
    }
    this.#pieces.push(piece);
    this.#chars += piece.length;
    return undefined;
  }

  /** What stands before the closing mark, once it came. */
  closed(): string {
    return this.#pieces.join('').slice(0, -this.mark.close.length);
  }

  /** What came when no closing mark did: up to the one that was passed over, and the rest. */
  unclosed(): { readonly body: string; readonly after: string } {
    const all = this.#pieces.join('');
    if (this.#passedAt === undefined) return { body: all, after: '' };
    return { body: all.slice(0, this.#passedAt - this.mark.close.length), after: all.slice(this.#passedAt) };
  }

  #closes(sign: string): boolean {
    this.#followString(sign);
    const { close } = this.mark;
    if (sign === close.charAt(this.#matched)) this.#matched += 1;
    else this.#matched = sign === close.charAt(0) ? 1 : 0;
    if (this.#matched < close.length) return false;
    this.#matched = 0;
    return true;
  }

  #followString(sign: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (sign === '"') {
      this.#inString = !this.#inString;
      this.#isBroken = false;
    } else if (this.#inString && sign === '\\') this.#isEscaped = true;
    if (this.#inString && sign === '\n') this.#isBroken = true;
  }
}
