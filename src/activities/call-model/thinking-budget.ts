import type { StreamDelta } from '../../providers/contract/provider.js';

const CHARS_PER_TOKEN = 4;

/** Limits the thinking of an answer: `spent` aborts when the limit is exceeded before any text or tool call. */
export class ThinkingBudget {
  readonly #abort = new AbortController();
  readonly #tokensMax: number;
  #chars = 0;
  #answers = false;

  /** @param tokensMax estimated from characters, because no server reports tokens while it streams. @default no limit */
  constructor(tokensMax: number = Number.POSITIVE_INFINITY) {
    this.#tokensMax = tokensMax;
  }

  get spent(): AbortSignal {
    return this.#abort.signal;
  }

  get problem(): string {
    return `the model thought for more than ${this.#tokensMax} tokens without an answer or a call`;
  }

  /** Counts a part of the stream. Blank text is no answer yet, because some servers send line breaks around thinking. */
  add(delta: StreamDelta): void {
    if (delta.type === 'thinking') this.#chars += delta.text.length;
    else if (!this.#answers) this.#answers = delta.type === 'tool_call' || delta.text.trim() !== '';
    if (!this.#answers && this.#chars > this.#tokensMax * CHARS_PER_TOKEN) this.#abort.abort();
  }
}
