import type { WatchItem } from '../../client/watch/watch-run.js';
import type { RunEvent } from '../../contracts/event.js';
import type { StreamEntry } from '../../streams/stream.js';

/** An event or a token of a run in its place. */
export type Placed = Extract<WatchItem, { type: 'event' | 'stream' }>;

/** The events that come after the beginning of the turn that they name. Others, such as `steer.delivered`, may name the next one. */
const INSIDE_TURN: ReadonlySet<RunEvent['type']> = new Set(['turn.started', 'model.completed', 'tool.call', 'tool.result', 'turn.ended']);

/**
 * Brings the items of a watch into the order of the run. Tokens arrive as they are made, events up to a second later, so that the answers
 * of several fast turns could stand above the first one. A token waits for the event that starts its turn, and a token of the reserved
 * final answer for the end of the last turn.
 */
export class TurnOrder {
  #turn = 0;
  #endedTurn = 0;
  #waiting: StreamEntry[] = [];

  /** Takes the next item of a watch. Returns what is in its place now. */
  take(item: WatchItem): readonly Placed[] {
    switch (item.type) {
      case 'stream':
        this.#waiting.push(item.event);
        return this.#due();
      case 'event':
        this.#pass(item.event);
        return [item, ...this.#due()];
      case 'result':
        this.#turn = this.#endedTurn = Number.POSITIVE_INFINITY;
        return this.#due();
      case 'notice':
      case 'progress':
        return [];
    }
  }

  #pass(event: RunEvent): void {
    if (event.type === 'run.ended') this.#endedTurn = this.#turn;
    if (!INSIDE_TURN.has(event.type) || !('turn' in event) || event.turn === undefined) return;
    this.#turn = Math.max(this.#turn, event.turn);
    if (event.type === 'turn.ended') this.#endedTurn = Math.max(this.#endedTurn, event.turn);
  }

  #due(): Placed[] {
    const end = this.#waiting.findIndex((entry) => !this.#isDue(entry));
    const due = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    return due.map((event) => ({ type: 'stream', event }));
  }

  #isDue(entry: StreamEntry): boolean {
    return entry.turn <= (entry.type === 'reset' && entry.final ? this.#endedTurn : this.#turn);
  }
}
