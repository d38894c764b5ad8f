import type { RunEvent } from '../../../contracts/event.js';
import type { RunResult } from '../../../contracts/schemas/run.js';
import type { StreamEntry } from '../../../streams/stream.js';
import { type Cursor, furthest, isAtOrBehind, writeCursor, writeEnd } from './cursor.js';

/** One event as clients get it. */
export interface SentEvent {
  /** The type: that of a run event, `text.delta`, `thinking.delta`, `attempt.reset`, `gap` or `result`. */
  readonly type: string;
  readonly data: object;
  /** The place behind the event. */
  readonly cursor: Cursor;
  /** What the event continues. A client that has this already skips the event. */
  readonly adds: { readonly event: number } | { readonly epoch: number; readonly seq: number } | 'result';
}

/** Makes the events for clients out of run events and tokens, each once, from a place on. */
export class EventWriter {
  readonly #runId: string;
  #cursor: Cursor;

  constructor(runId: string, start: Cursor) {
    this.#runId = runId;
    this.#cursor = start;
  }

  /** The place behind all that was taken. */
  get cursor(): Cursor {
    return this.#cursor;
  }

  /** Takes a run event. Returns it, after a `gap` where the run dropped older ones, or nothing if it was taken before. */
  event(event: RunEvent): SentEvent[] {
    const { seq, type } = event;
    const before = this.#cursor;
    if (seq <= before.event) return [];
    this.#cursor = { ...before, event: seq };
    const adds = { event: seq };
    const gap: SentEvent[] =
      seq > before.event + 1 ? [{ type: 'gap', data: { runId: this.#runId, missing: 'events' }, cursor: before, adds }] : [];
    return [...gap, { type, data: event, cursor: this.#cursor, adds }];
  }

  /** Takes a piece of the token stream. Most become one event; the begin and the end of an attempt that superseded none become nothing. */
  token(entry: StreamEntry): SentEvent[] {
    const { runId, turn, attempt, epoch, seq, type, id } = entry;
    const before = this.#cursor;
    const adds = { epoch, seq };
    if (isAtOrBehind(before.token, adds)) return [];
    const isFinal = type === 'reset' ? entry.final === true : before.token?.epoch === epoch && before.token.isFinal;
    // a source adds `gap`, and a `reset` that was lost, in front of the piece with this number
    const isAdded = type === 'gap' || (type === 'reset' && seq !== 1);
    if (!isAdded) this.#cursor = { ...before, token: { id, epoch, seq, turn, isFinal } };
    const sent = (name: string, data: object): SentEvent[] => [{ type: name, data, cursor: this.#cursor, adds }];
    const answer = { runId, turn, attempt, ...(isFinal ? { final: true } : {}) };
    switch (type) {
      case 'text':
      case 'thinking':
        return sent(`${type}.delta`, { ...answer, seq, text: entry.text });
      case 'reset':
        return before.token?.turn === turn && before.token.isFinal === isFinal ? sent('attempt.reset', answer) : [];
      case 'gap':
        return sent('gap', { runId, missing: 'tokens', turn, attempt });
      case 'tool_call':
      case 'end':
        return [];
    }
  }

  /** Says that events are missing before the result: no worker returned them. */
  lost(): SentEvent[] {
    return [{ type: 'gap', data: { runId: this.#runId, missing: 'events' }, cursor: this.#cursor, adds: 'result' }];
  }

  /** The last event. */
  result(result: RunResult): SentEvent[] {
    return [{ type: 'result', data: { result }, cursor: this.#cursor, adds: 'result' }];
  }
}

/** An event as a server-sent event. `from`: the place of a client that has more of one kind than the event's place says. */
export function frameOf(runId: string, { type, data, cursor }: SentEvent, from?: Cursor): Buffer {
  const id = type === 'result' ? writeEnd(runId) : writeCursor(runId, from ? furthest(from, cursor) : cursor);
  // JSON has no line break
  return Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}
