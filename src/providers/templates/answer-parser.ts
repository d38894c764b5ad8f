import type { Part } from '../../contracts/schemas/message.js';
import type { StreamDelta } from '../contract/provider.js';
import { CodeTracker } from '../transcript/code-tracker.js';
import { toolCallPart } from '../transcript/parse-arguments.js';
import { CallBody } from './call-body.js';
import type { AnswerMarkup, Mark } from './chat-template.js';
import { readBrokenCall, readCalls, type WrittenCall } from './read-calls.js';

/** What a parser is told of its request. */
export interface AnswerParserOptions {
  readonly markup: AnswerMarkup;
  /** The names that a bare call may have. */
  readonly tools: readonly { readonly name: string }[];
  /** Called for each piece as soon as it is known what it is; a call is told when it is whole. */
  readonly onDelta: (delta: StreamDelta) => void;
}

/** How an answer of nothing but a call begins, without its blanks. */
const BARE_BEGINNINGS = ['{"name":', '[{"name":', '```json{"name":', '```json[{"name":'];

/** More than that, blanks included, and it is no beginning. */
const BEGINNING_CHARS_MAX = 200;

type State =
  | { readonly kind: 'beginning' | 'text' | 'ended' }
  | { readonly kind: 'thinking'; readonly mark: Mark }
  | { readonly kind: 'call'; readonly body: CallBody }
  | { readonly kind: 'bare'; readonly pieces: string[] };

/**
 * Reads a model's text as it streams: thinking, calls, and what is neither. Its pieces may be cut anywhere. Marks within code are text,
 * blanks around thinking and calls are nobody's, and a call without its end is text, unless the output limit cut it.
 */
export class AnswerParser {
  readonly #options: AnswerParserOptions;
  readonly #parts: Part[] = [];
  #state: State;
  #code = new CodeTracker();
  /** What may be the beginning of a mark. */
  #undecided = '';
  /** Blanks that are told only when something comes after them. */
  #blanks = '';
  #calls = 0;

  constructor(options: AnswerParserOptions) {
    this.#options = options;
    this.#state = { kind: options.markup.bareCalls ? 'beginning' : 'text' };
  }

  add(text: string): void {
    let rest = text;
    while (rest !== '') rest = this.#read(rest);
  }

  /** The whole answer. `cut`: the output limit ended it, and a call that was begun is kept as far as it came. To be called once. */
  end({ cut }: { readonly cut: boolean }): readonly Part[] {
    const state = this.#state;
    if (state.kind === 'call') this.#endUnclosed(state.body, cut);
    else if (state.kind === 'bare') this.#endBare(state.pieces.join(''));
    else if (state.kind !== 'ended') this.#say(state.kind === 'thinking' ? 'thinking' : 'text', this.#undecided);
    return this.#parts;
  }

  /** Takes what it can of a text, and gives the rest back. */
  #read(text: string): string {
    const state = this.#state;
    switch (state.kind) {
      case 'beginning':
        return this.#begin(text);
      case 'text':
        return this.#readText(text);
      case 'thinking':
        return this.#readThinking(text, state.mark);
      case 'call':
        return this.#readCall(text, state.body);
      case 'bare':
        state.pieces.push(text);
        return '';
      case 'ended':
        return '';
    }
  }

  #begin(text: string): string {
    const all = this.#undecided + text;
    const compact = all.replaceAll(/\s/gu, '');
    const mayBe = BARE_BEGINNINGS.some((beginning) => beginning.length > compact.length && beginning.startsWith(compact));
    if (mayBe && all.length <= BEGINNING_CHARS_MAX) {
      this.#undecided = all;
      return '';
    }
    this.#undecided = '';
    const isBare = BARE_BEGINNINGS.some((beginning) => compact.startsWith(beginning));
    this.#state = isBare ? { kind: 'bare', pieces: [] } : { kind: 'text' };
    return all;
  }

  #readText(text: string): string {
    const all = this.#undecided + text;
    this.#undecided = '';
    for (let at = 0; at < all.length; at += 1) {
      const mark = this.#code.isCodeAt(all.charAt(at)) ? undefined : this.#markAt(all, at);
      if (mark !== undefined) {
        this.#say('text', all.slice(0, at));
        return this.#enter(mark, all.slice(at));
      }
      this.#code.add(all.charAt(at));
    }
    this.#say('text', all);
    return '';
  }

  /** The mark that stands at a place, or `maybe` when the text ends within what may be one. */
  #markAt(text: string, at: number): Mark | 'stop' | 'maybe' | undefined {
    const { marks, stops } = this.#options.markup;
    const possible = marks.filter(({ ownLine }) => !ownLine || this.#code.startsLine);
    const mark = possible.find(({ open }) => text.startsWith(open, at));
    if (mark) return mark;
    if (stops.some((stop) => text.startsWith(stop, at))) return 'stop';
    const tail = text.length - at;
    const beginnings = [...possible.map(({ open }) => open), ...stops];
    return beginnings.some((sign) => sign.length > tail && text.endsWith(sign.slice(0, tail))) ? 'maybe' : undefined;
  }

  #enter(mark: Mark | 'stop' | 'maybe', rest: string): string {
    if (mark === 'maybe') {
      this.#undecided = rest;
      return '';
    }
    if (mark === 'stop') {
      this.#state = { kind: 'ended' };
      return '';
    }
    this.#state = mark.kind === 'thinking' ? { kind: 'thinking', mark } : { kind: 'call', body: new CallBody(mark) };
    return rest.slice(mark.open.length);
  }

  #readThinking(text: string, { close }: Mark): string {
    const all = this.#undecided + text;
    const end = all.indexOf(close);
    const textEnd = end === -1 ? all.length - endLikeBeginning(all, close) : end;
    this.#say('thinking', all.slice(0, textEnd));
    this.#undecided = end === -1 ? all.slice(textEnd) : '';
    return end === -1 ? '' : this.#backToText(all.slice(end + close.length));
  }

  #readCall(text: string, body: CallBody): string {
    const after = body.add(text);
    if (after === undefined) return '';
    const written = body.closed();
    const broken = readBrokenCall(written);
    const calls = readCalls(written) ?? (broken ? [broken] : undefined);
    const back = this.#backToText(after);
    if (calls) for (const call of calls) this.#call(call);
    else this.#say('text', `${body.mark.open}${written}${body.mark.close}`);
    return back;
  }

  #backToText(rest: string): string {
    this.#state = { kind: 'text' };
    this.#code = new CodeTracker();
    return rest;
  }

  #endUnclosed(body: CallBody, cut: boolean): void {
    const { body: written, after } = body.unclosed();
    const begun = cut || after !== '' ? readBrokenCall(written) : undefined;
    const calls = readCalls(written) ?? (begun ? [begun] : undefined);
    if (calls) for (const call of calls) this.#call(call);
    this.#say('text', calls ? after : `${body.mark.open}${written}${after}`);
  }

  #endBare(text: string): void {
    // trimmed first: a pattern that begins with blanks tries each of a long run of them anew
    const unfenced = text
      .trim()
      .replace(/^```json/u, '')
      .replace(/```$/u, '');
    const calls = readCalls(unfenced);
    const names = new Set(this.#options.tools.map(({ name }) => name));
    if (calls?.every(({ name }) => names.has(name))) for (const call of calls) this.#call(call);
    else this.#say('text', text);
  }

  #call({ name, argsText }: WrittenCall): void {
    this.#blanks = '';
    this.#parts.push(toolCallPart(`call_${this.#calls}`, name, argsText));
    this.#calls += 1;
    this.#options.onDelta({ type: 'tool_call', name });
  }

  #say(type: 'text' | 'thinking', text: string): void {
    const last = this.#parts.at(-1);
    const goesOn = last?.type === type;
    if (text.trim() === '') {
      if (goesOn) this.#blanks += text;
      return;
    }
    const all = goesOn ? this.#blanks + text : text.trimStart();
    const solid = all.trimEnd();
    this.#blanks = all.slice(solid.length);
    if (goesOn) this.#parts[this.#parts.length - 1] = { ...last, text: last.text + solid };
    else this.#parts.push({ type, text: solid });
    this.#options.onDelta({ type, text: solid });
  }
}

/** How many signs at a text's end may be the beginning of a mark. */
function endLikeBeginning(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** Takes the meaning of a template's marks out of a text, and leaves it readable: a space comes after the first sign of each. */
export function breakMarks(text: string, marks: RegExp): string {
  return text.replaceAll(marks, (mark) => `${mark.slice(0, 1)} ${mark.slice(1)}`);
}
