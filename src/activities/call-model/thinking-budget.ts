import type { StreamDelta } from '../../providers/contract/provider.js';

const CHARS_PER_TOKEN = 4;

/** Watches an answer that thinks: `spent` aborts when it thought for too long and neither said nor called anything yet. */
export class ThinkingBudget {
  readonly #abort = new AbortController();
  readonly #tokensMax: number;
  #chars = 0;
  #answers = false;

  /** @param tokensMax estimated from characters, since no server counts while it streams. @default no bound */
  constructor(tokensMax: number = Number.POSITIVE_INFINITY) {
    this.#tokensMax = tokensMax;
  }

  get spent(): AbortSignal {
    return this.#abort.signal;
  }

  get problem(): string {
    return `the model thought for more than ${this.#tokensMax} tokens without an answer or a call`;
  }

  /** A blank text is no answer yet: some servers send line breaks around what they think. */
  saw(delta: StreamDelta): void {
    if (delta.type === 'thinking') this.#chars += delta.text.length;
    else if (!this.#answers) this.#answers = delta.type === 'tool_call' || delta.text.trim() !== '';
    if (!this.#answers && this.#chars > this.#tokensMax * CHARS_PER_TOKEN) this.#abort.abort();
  }
}
