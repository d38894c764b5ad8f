import type { StreamEvent } from '../../streams/stream.js';

/** What a token stream adds to the screen. */
export type StreamChange =
  | { readonly kind: 'text'; readonly text: string }
  /** An unfinished answer begins anew: what it showed of this turn no longer counts. */
  | { readonly kind: 'restart' }
  | { readonly kind: 'none' };

/**
 * Keeps the text of the answer that streams. Each attempt begins with a reset, which drops what an earlier one said; the order of the file
 * decides, not the attempt's number, because a call that goes to another worker counts from 1 again. Events of earlier turns change nothing.
 */
export class StreamText {
  #turn = 0;
  #text = '';
  #ended = true;

  /** The text of the answer so far. */
  get text(): string {
    return this.#text;
  }

  /** Takes the next event; says what to show. */
  take(event: StreamEvent): StreamChange {
    if (event.turn < this.#turn) return NONE;
    if (event.turn > this.#turn) this.#begin(event.turn);
    switch (event.type) {
      case 'reset': {
        // a first attempt after an answer that ended is another call of the turn: the reserved final one
        const restarts = this.#text !== '' && (event.attempt > 1 || !this.#ended);
        this.#begin(event.turn);
        return restarts ? { kind: 'restart' } : NONE;
      }
      case 'text':
        this.#ended = false;
        this.#text += event.text;
        return { kind: 'text', text: event.text };
      case 'end':
        this.#ended = true;
        return NONE;
      case 'thinking':
      case 'tool_call':
        return NONE;
    }
  }

  #begin(turn: number): void {
    this.#turn = turn;
    this.#text = '';
    this.#ended = true;
  }
}

const NONE: StreamChange = { kind: 'none' };
