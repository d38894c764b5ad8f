import { SESSION_LIMITS } from '../../contracts/constants/limits.js';
import type { SentPart } from '../../contracts/schemas/session.js';

/** The beginnings of the messages that a full queue dropped, for one message to the agent. */
export class OverflowSummary {
  #count: number;
  #lines: readonly string[];

  constructor(carried: { readonly count: number; readonly lines: readonly string[] } = { count: 0, lines: [] }) {
    this.#count = carried.count;
    this.#lines = carried.lines;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds a dropped message. */
  add(parts: readonly SentPart[]): void {
    this.#count += 1;
    this.#lines = [...this.#lines, lineOf(parts)].slice(-SESSION_LIMITS.summaryLinesMax);
  }

  /** The text of the message to the agent. The summary is empty then. */
  take(): string {
    const lines = this.#lines.map((line) => `- ${line}`);
    const others = this.#count - lines.length;
    const more = others === 0 ? [] : [`- and ${others} before them`];
    const text = [`[${this.#count} messages were dropped because the queue was full. They began with:]`, ...more, ...lines].join('\n');
    this.clear();
    return text;
  }

  clear(): void {
    this.#count = 0;
    this.#lines = [];
  }

  /** The state that continue-as-new carries over; undefined for an empty summary. */
  carry(): { readonly count: number; readonly lines: readonly string[] } | undefined {
    return this.isEmpty ? undefined : { count: this.#count, lines: this.#lines };
  }
}

/** The beginning of a message on one line. */
function lineOf(parts: readonly SentPart[]): string {
  const text = parts.map((part) => (part.type === 'text' ? part.text : `[${part.mime}]`)).join(' ');
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, SESSION_LIMITS.summaryLineCharsMax)
    .toWellFormed();
}
