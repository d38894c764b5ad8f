/** What stands in an answer. */
export interface ScannedReply {
  readonly text: string;
  readonly thinking: string;
  readonly replyTo?: string;
}

/** How an answer is scanned. `isThinkingText`: thinking stays in the text, without its tags. */
export interface ScanOptions {
  readonly isOver: boolean;
  readonly isThinkingText: boolean;
}

const FENCE = /(?<=^|\n)[ \t]*(?:(?<ticks>`{3,})[^`\n]*|(?<tildes>~{3,})[^\n]*)(?:\n|$)/uy;
const SPAN = /`+/uy;
const TAG = /<(?<tag>think|thinking|thought|antthinking)>\s*/iuy;
const DIRECTIVE = /\[\[\s*reply_to(?:_(?<current>current)|\s*:\s*(?<id>[^\]\n]{1,200}?))\s*\]\][ \t]*/uy;
/** The end of a text that may be the beginning of a tag or of a directive. */
const UNDECIDED = /(?:<[a-z]{0,11}|\[|\[\[[^\]\n]{0,220}\]?)$/iu;
/** Where something may begin. */
const SPECIAL = /[`~<[]|(?<=\n)[ \t]+(?=[`~])/gu;

/** Reads one answer from its beginning. */
export class ReplyScanner {
  readonly #raw: string;
  readonly #options: ScanOptions;
  #at = 0;
  #text = '';
  #thinking = '';
  #replyTo: string | undefined;

  constructor(raw: string, options: ScanOptions) {
    this.#raw = options.isOver ? raw : raw.slice(0, UNDECIDED.exec(raw)?.index ?? raw.length);
    this.#options = options;
  }

  scan(): ScannedReply {
    while (this.#at < this.#raw.length) this.#step();
    return { text: this.#text, thinking: this.#thinking, ...(this.#replyTo === undefined ? {} : { replyTo: this.#replyTo }) };
  }

  #step(): void {
    const fence = this.#match(FENCE);
    if (fence) return this.#code(endOfFence(this.#raw, fence.end, fence.groups['ticks'] ?? fence.groups['tildes'] ?? ''));
    const span = this.#match(SPAN);
    if (span) return this.#code(endOfSpan(this.#raw, this.#at, span.end));
    const tag = this.#match(TAG);
    if (tag) return this.#think(tag.end, tag.groups['tag'] ?? '');
    const directive = this.#match(DIRECTIVE);
    if (directive) {
      this.#replyTo ??= directive.groups['current'] ?? directive.groups['id'];
      this.#at = directive.end;
      return;
    }
    SPECIAL.lastIndex = this.#at + 1;
    this.#code(SPECIAL.exec(this.#raw)?.index ?? this.#raw.length);
  }

  #match(pattern: RegExp): { readonly end: number; readonly groups: Readonly<Record<string, string | undefined>> } | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#raw);
    return found ? { end: pattern.lastIndex, groups: found.groups ?? {} } : undefined;
  }

  /** Takes text as it is. */
  #code(end: number): void {
    this.#text += this.#raw.slice(this.#at, end);
    this.#at = end;
  }

  /** Takes thinking up to its closing tag, in code too: thoughts are full of unfinished code. Without the tag, all of it is thinking. */
  #think(begin: number, tag: string): void {
    const closing = `</${tag.toLowerCase()}>`;
    const pattern = new RegExp(closing, 'giu');
    pattern.lastIndex = begin;
    const found = pattern.exec(this.#raw)?.index ?? -1;
    const end = found === -1 ? this.#raw.length - (this.#options.isOver ? 0 : begunAtEnd(this.#raw, closing)) : found;
    const thought = this.#raw.slice(begin, Math.max(begin, end));
    this.#thinking += `${thought}\n`;
    if (this.#options.isThinkingText) this.#text += thought;
    this.#at = found === -1 ? this.#raw.length : found + closing.length;
    // blanks behind the tag belong to neither
    if (found !== -1 && !this.#options.isThinkingText) while (/\s/u.test(this.#raw.charAt(this.#at))) this.#at += 1;
  }
}

/** How much of a closing tag the text ends with. */
function begunAtEnd(text: string, closing: string): number {
  const end = text.slice(-closing.length).toLowerCase();
  for (let length = Math.min(closing.length - 1, end.length); length > 0; length -= 1) {
    if (closing.startsWith(end.slice(-length))) return length;
  }
  return 0;
}

function endOfFence(text: string, from: number, marker: string): number {
  const closing = new RegExp(`(?:^|\\n)[ \\t]*${marker.charAt(0)}{${marker.length},}[ \\t\\r]*(?:\\n|$)`, 'u');
  const rest = text.slice(Math.max(0, from - 1));
  const found = closing.exec(rest);
  return found ? Math.max(0, from - 1) + found.index + found[0].length : text.length;
}

/** A code span ends with as many backticks as it begins with, at the latest with its line. */
function endOfSpan(text: string, at: number, behind: number): number {
  const marker = text.slice(at, behind);
  const newline = text.indexOf('\n', behind);
  const line = text.slice(behind, newline === -1 ? text.length : newline);
  for (const { index, 0: run } of line.matchAll(/`+/gu)) if (run === marker) return behind + index + run.length;
  return behind + line.length;
}
