import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import { textOf, toolCallsOf } from '../../../contracts/message-text.js';
import type { Message } from '../../../contracts/schemas/message.js';
import { identifiersOf } from '../../../contracts/text/identifiers.js';

/** Tool results can be read again, the user's words cannot: the last ones are kept, each on its own line. */
const SAID_MAX = 10;
const SAID_CHARS_MAX = 200;

const BEGINNING = '[compacted] ';
const TOOLS = 'Tools called in them: ';
const NAMED = 'Named in them: ';
const SAID = 'The user said in them:';
const BULLET = '- ';

/**
 * The record of dropped messages: their number, the tools they called, the identifiers in them, and the user's words. Its text can be
 * parsed again, so that dropping messages in two steps gives the same text as dropping them at once.
 */
export class LeftOut {
  #messages = 0;
  readonly #tools = new Map<string, number>();
  readonly #named = new Set<string>();
  #said: string[] = [];

  /** Splits a summary into the text before such a record, and the parsed record. Without a record all of it is `before`. */
  static read(summary: string): { readonly before: string; readonly leftOut: LeftOut } {
    const at = summary.lastIndexOf(`\n\n${BEGINNING}`);
    const text = at === -1 ? summary : summary.slice(at + 2);
    const leftOut = new LeftOut();
    leftOut.#parse(text);
    return leftOut.text === text ? { before: summary.slice(0, Math.max(0, at)), leftOut } : { before: summary, leftOut: new LeftOut() };
  }

  /** Adds an earlier record, as if its messages were added here. */
  addAll(other: LeftOut): void {
    this.#messages += other.#messages;
    for (const [name, count] of other.#tools) this.#tools.set(name, (this.#tools.get(name) ?? 0) + count);
    this.#name([...other.#named]);
    this.#said = [...this.#said, ...other.#said].slice(-SAID_MAX);
  }

  /** Adds one dropped message. */
  add(message: Message): void {
    this.#messages += 1;
    if (message.role === 'user' && (message.origin === undefined || message.origin === 'steer')) this.#addUserText(textOf(message));
    for (const { name } of toolCallsOf(message)) this.#call(name);
    this.#name(identifiersOf(message.parts));
  }

  /** The text that replaces the dropped messages in the transcript. */
  get text(): string {
    const lines = [`${BEGINNING}${this.#messages} earlier messages were left out; look again at what matters before relying on it.`];
    if (this.#tools.size > 0) lines.push(TOOLS + [...this.#tools].map(([name, count]) => `${name} ${count}`).join(', '));
    if (this.#named.size > 0) lines.push(NAMED + [...this.#named].join(', '));
    if (this.#said.length > 0) lines.push(SAID, ...this.#said.map((said) => BULLET + said));
    return lines.join('\n');
  }

  /** Counts a call. Names that the text could not be parsed for are left out; no tool has such a name. */
  #call(name: string): void {
    if (/^[\w-]{1,64}$/u.test(name)) this.#tools.set(name, (this.#tools.get(name) ?? 0) + 1);
  }

  #name(identifiers: readonly string[]): void {
    for (const identifier of identifiers) {
      this.#named.delete(identifier);
      this.#named.add(identifier);
    }
    for (const oldest of this.#named) {
      if (this.#named.size <= COMPACTION_LIMITS.identifiersKept) break;
      this.#named.delete(oldest);
    }
  }

  #addUserText(text: string): void {
    const line = text.slice(0, SAID_CHARS_MAX).toWellFormed().replaceAll(/\s+/gu, ' ').trim();
    if (line !== '') this.#said = [...this.#said, line].slice(-SAID_MAX);
  }

  #parse(text: string): void {
    const [first = '', ...lines] = text.split('\n');
    this.#messages = Number(/^\[compacted\] (\d{1,9}) /u.exec(first)?.[1] ?? 0);
    for (const line of lines) {
      if (line.startsWith(TOOLS))
        for (const [, name = '', count] of line.matchAll(/([\w-]+) (\d{1,9})/gu)) this.#tools.set(name, Number(count));
      else if (line.startsWith(NAMED)) this.#name(line.slice(NAMED.length).split(', '));
      else if (line.startsWith(BULLET)) this.#said.push(line.slice(BULLET.length));
    }
  }
}
