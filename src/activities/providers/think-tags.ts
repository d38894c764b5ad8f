/** A piece of an answer, told apart. `reclaimed`: all text so far was thinking, whose opening tag stood in the prompt. */
export type TaggedPiece = { readonly type: 'text' | 'thinking'; readonly text: string } | { readonly type: 'reclaimed' };

/** Code in which a tag is text: a fence or a span, with the marks that opened it. */
interface Code {
  readonly kind: 'fence' | 'span';
  readonly mark: string;
  readonly length: number;
}

/** Where the undecided rest of the input begins, when more input is needed to decide it. */
const UNDECIDED = -1;

/** A line may begin with so many blanks before a fence. */
const FENCE_INDENT_MAX = 3;
const FENCE_MARKS_MIN = 3;

/**
 * Tells thinking from text in an answer whose thinking stands between tags, such as `<think>` and `</think>`, in whatever chunks it comes.
 *
 * A tag counts anywhere in the text, since some models think more than once; in fenced code and in code spans it is text. A span ends
 * with its line, so that a single backtick hides no more than that. Within thinking only the closing tag counts, in code too: thoughts
 * are full of unfinished code. What is not closed at the end is thinking. A closing tag that is the first tag of all closes what the
 * prompt opened. Blanks between a tag and the first word of the answer, or of a thought, belong to neither.
 */
export class ThinkTags {
  readonly #open: string;
  readonly #close: string;
  #rest = '';
  #isThinking = false;
  #code: Code | undefined;
  /** Blanks at the beginning of the line; more than any fence has once something else came. */
  #indent = 0;
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
    return this.#read(this.#rest + text, false);
  }

  /** What was undecided when the answer ended. */
  end(): TaggedPiece[] {
    const pieces = this.#read(this.#rest, true);
    if (!this.#sawTag && this.#blanks !== '') pieces.push({ type: 'text', text: this.#blanks });
    this.#blanks = '';
    return pieces;
  }

  #read(input: string, isEnd: boolean): TaggedPiece[] {
    this.#pieces = [];
    let at = 0;
    while (at < input.length) {
      const next = this.#isThinking ? this.#readThought(input, at, isEnd) : this.#readText(input, at, isEnd);
      if (next === UNDECIDED) break;
      at = next;
    }
    this.#rest = input.slice(at);
    return joined(this.#pieces);
  }

  #readThought(input: string, at: number, isEnd: boolean): number {
    if (input.startsWith(this.#close, at)) {
      this.#isThinking = false;
      this.#blanks = '';
      return at + this.#close.length;
    }
    if (!isEnd && couldBecome(this.#close, input, at)) return UNDECIDED;
    const end = nextOf(/</gu, input, at + 1);
    this.#say('thinking', input.slice(at, end));
    return end;
  }

  #readText(input: string, at: number, isEnd: boolean): number {
    const char = input.charAt(at);
    if (char === '\n') return this.#readLineEnd(at);
    if (char === '`' || char === '~') return this.#readMarks(input, at, isEnd);
    return char === '<' && !this.#code ? this.#readTag(input, at, isEnd) : this.#readPlain(input, at);
  }

  #readLineEnd(at: number): number {
    if (this.#code?.kind === 'span') this.#code = undefined;
    this.#indent = 0;
    this.#say('text', '\n');
    return at + 1;
  }

  #readPlain(input: string, at: number): number {
    const end = nextOf(/[\n`~<]/gu, input, at + 1);
    const plain = input.slice(at, end);
    this.#indent = /^ *$/u.test(plain) ? this.#indent + plain.length : Number.POSITIVE_INFINITY;
    this.#say('text', plain);
    return end;
  }

  #readTag(input: string, at: number, isEnd: boolean): number {
    if (input.startsWith(this.#open, at)) {
      this.#isThinking = this.#sawTag = true;
      this.#saidThought = false;
      this.#blanks = '';
      return at + this.#open.length;
    }
    if (!this.#sawTag && input.startsWith(this.#close, at)) {
      this.#pieces.push({ type: 'reclaimed' });
      this.#sawTag = true;
      this.#saidText = false;
      this.#blanks = '';
      return at + this.#close.length;
    }
    const isUndecided = couldBecome(this.#open, input, at) || (!this.#sawTag && couldBecome(this.#close, input, at));
    return isUndecided && !isEnd ? UNDECIDED : this.#readPlain(input, at);
  }

  #readMarks(input: string, at: number, isEnd: boolean): number {
    const mark = input.charAt(at);
    const end = nextOf(new RegExp(`[^${mark}]`, 'gu'), input, at);
    if (end === input.length && !isEnd) return UNDECIDED;
    const marks = { mark, length: end - at };
    const code = this.#codeAfter(marks, restOfLine(input, end, isEnd));
    if (code === 'undecided') return UNDECIDED;
    this.#code = code;
    this.#indent = Number.POSITIVE_INFINITY;
    this.#say('text', input.slice(at, end));
    return end;
  }

  /** The code that the text is in behind these marks. `rest` is undefined while the end of the line is not known. */
  #codeAfter({ mark, length }: Omit<Code, 'kind'>, rest: string | undefined): Code | undefined | 'undecided' {
    const code = this.#code;
    const couldFence = this.#indent <= FENCE_INDENT_MAX && length >= FENCE_MARKS_MIN;
    if (code?.kind === 'span') return mark === '`' && length === code.length ? undefined : code;
    if (code?.kind === 'fence') {
      if (!couldFence || mark !== code.mark || length < code.length) return code;
      if (rest === undefined) return 'undecided';
      return rest.trim() === '' ? undefined : code;
    }
    if (mark === '~') return couldFence ? { kind: 'fence', mark, length } : undefined;
    if (!couldFence) return { kind: 'span', mark, length };
    if (rest === undefined) return 'undecided';
    // a fence has no backticks behind it in its line: this is a span of three
    return { kind: rest.includes('`') ? 'span' : 'fence', mark, length };
  }

  #say(type: 'text' | 'thinking', text: string): void {
    const said = type === 'text' ? this.#saidText : this.#saidThought;
    if (said) {
      this.#pieces.push({ type, text });
      return;
    }
    this.#blanks += text;
    if (this.#blanks.trim() === '') return;
    this.#pieces.push({ type, text: this.#sawTag ? this.#blanks.trimStart() : this.#blanks });
    this.#blanks = '';
    if (type === 'text') this.#saidText = true;
    else this.#saidThought = true;
  }
}

/** Where a pattern is found next; the end where it is not. */
function nextOf(pattern: RegExp, input: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(input)?.index ?? input.length;
}

/** The input ends with the beginning of a tag. */
function couldBecome(tag: string, input: string, at: number): boolean {
  return tag.startsWith(input.slice(at));
}

function restOfLine(input: string, from: number, isEnd: boolean): string | undefined {
  const end = input.indexOf('\n', from);
  if (end !== -1) return input.slice(from, end);
  return isEnd ? input.slice(from) : undefined;
}

/** Neighbours of one kind as one piece: a chunk is shown at once. */
function joined(pieces: readonly TaggedPiece[]): TaggedPiece[] {
  const result: TaggedPiece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last && last.type !== 'reclaimed' && piece.type === last.type) result.splice(-1, 1, { ...last, text: last.text + piece.text });
    else result.push(piece);
  }
  return result;
}
