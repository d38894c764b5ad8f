import { CodeTracker } from './code-tracker.js';

/** A piece of an answer, told apart. `reclaimed`: all text so far was thinking, whose opening tag stood in the prompt. */
export type TaggedPiece = { readonly type: 'text' | 'thinking'; readonly text: string } | { readonly type: 'reclaimed' };

/** What stands at a place of the text; `maybe`: more input is needed to know. */
type Found = 'open' | 'close' | 'maybe' | undefined;

/**
 * Tells thinking from text in an answer whose thinking stands between tags, such as `<think>` and `</think>`, in whatever chunks it comes.
 *
 * A tag counts anywhere in the text, since some models think more than once; in fenced code and in code spans it is text. Within thinking
 * only the closing tag counts, in code too: thoughts are full of unfinished code. What is not closed at the end is thinking. A closing
 * tag that is the first tag of all closes what the prompt opened. Blanks between a tag and the first word of the answer, or of a
 * thought, belong to neither.
 */
export class ThinkTags {
  readonly #open: string;
  readonly #close: string;
  readonly #code = new CodeTracker();
  /** What may be the beginning of a tag. */
  #undecided = '';
  #isThinking = false;
  #sawTag = false;
  /** Blanks that wait for a word. */
  #blanks = '';
  #saidText = false;
  #saidThought = false;
  #pieces: TaggedPiece[] = [];

  constructor(tag: string) {
    this.#open = `<${tag}>`;
    this.#close = `</${tag}>`;
  }

  /** What is decided with this piece of the answer. Never throws. */
  add(text: string): TaggedPiece[] {
    this.#pieces = [];
    let rest = this.#undecided + text;
    this.#undecided = '';
    while (rest !== '') rest = this.#isThinking ? this.#readThought(rest) : this.#readText(rest);
    return this.#pieces;
  }

  /** What was undecided when the answer ended. */
  end(): TaggedPiece[] {
    this.#pieces = [];
    this.#say(this.#isThinking ? 'thinking' : 'text', this.#undecided);
    this.#undecided = '';
    if (!this.#sawTag && this.#blanks !== '') this.#pieces.push({ type: 'text', text: this.#blanks });
    this.#blanks = '';
    return this.#pieces;
  }

  /** Takes what it can of a text, and gives the rest back. */
  #readText(text: string): string {
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charAt(at);
      const found = char === '<' && !this.#code.isCodeAt(char) ? this.#tagAt(text, at) : undefined;
      if (found) {
        this.#say('text', text.slice(0, at));
        return this.#enter(found, text.slice(at));
      }
      this.#code.add(char);
    }
    this.#say('text', text);
    return '';
  }

  #tagAt(text: string, at: number): Found {
    if (text.startsWith(this.#open, at)) return 'open';
    if (!this.#sawTag && text.startsWith(this.#close, at)) return 'close';
    const rest = text.slice(at);
    return this.#open.startsWith(rest) || (!this.#sawTag && this.#close.startsWith(rest)) ? 'maybe' : undefined;
  }

  #enter(found: NonNullable<Found>, rest: string): string {
    if (found === 'maybe') {
      this.#undecided = rest;
      return '';
    }
    this.#sawTag = true;
    this.#blanks = '';
    if (found === 'open') {
      this.#isThinking = true;
      this.#saidThought = false;
      return rest.slice(this.#open.length);
    }
    this.#pieces.push({ type: 'reclaimed' });
    this.#saidText = false;
    return rest.slice(this.#close.length);
  }

  #readThought(text: string): string {
    const end = text.indexOf(this.#close);
    if (end === -1) {
      const decided = text.length - lengthOfBeginning(text, this.#close);
      this.#say('thinking', text.slice(0, decided));
      this.#undecided = text.slice(decided);
      return '';
    }
    this.#say('thinking', text.slice(0, end));
    this.#isThinking = false;
    this.#blanks = '';
    return text.slice(end + this.#close.length);
  }

  #say(type: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    if (type === 'text' ? this.#saidText : this.#saidThought) {
      this.#pieces.push({ type, text });
      return;
    }
    // only the new piece is looked at: a model may say nothing but blanks, one at a time
    if (text.trim() === '') {
      this.#blanks += text;
      return;
    }
    this.#pieces.push({ type, text: this.#sawTag ? text.trimStart() : this.#blanks + text });
    this.#blanks = '';
    if (type === 'text') this.#saidText = true;
    else this.#saidThought = true;
  }
}

/** How many signs at a text's end may be the beginning of a tag. */
function lengthOfBeginning(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
