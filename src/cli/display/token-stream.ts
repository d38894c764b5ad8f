import type { StreamEvent } from '../../streams/stream.js';

/** The change that a stream event makes to the displayed text. */
export type StreamChange =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  /** A new attempt of the response starts. The text of this turn shown so far is obsolete. */
  | { readonly kind: 'restart' }
  | { readonly kind: 'none' };

/**
 * Collects the text of the streamed response. Each attempt starts with a reset, which drops the text of the attempt before. The order of
 * events counts, not the attempt number, because a call that moves to another worker starts at 1 again. Events of earlier turns are ignored.
 */
export class StreamText {
  #turn = 0;
  #text = '';
  #ended = true;

  /** The text of the response so far. */
  get text(): string {
    return this.#text;
  }

  /** Takes the next event. Returns the change to display. */
  take(event: StreamEvent): StreamChange {
    if (event.turn < this.#turn) return NONE;
    if (event.turn > this.#turn) this.#begin(event.turn);
    switch (event.type) {
      case 'reset': {
        // a first attempt after a finished response is the reserved final call of the same turn
        const restarts = this.#text !== '' && (event.attempt > 1 || !this.#ended);
        this.#begin(event.turn);
        return restarts ? { kind: 'restart' } : NONE;
      }
      case 'text':
        this.#ended = false;
        return this.#add(event.text);
      case 'gap':
        return this.#add('[…]');
      case 'end':
        this.#ended = true;
        return NONE;
      case 'thinking':
        this.#ended = false;
        return { kind: 'thinking', text: event.text };
      case 'tool_call':
        return NONE;
    }
  }

  #add(text: string): StreamChange {
    this.#text += text;
    return { kind: 'text', text };
  }

  #begin(turn: number): void {
    this.#turn = turn;
    this.#text = '';
    this.#ended = true;
  }
}

const NONE: StreamChange = { kind: 'none' };
