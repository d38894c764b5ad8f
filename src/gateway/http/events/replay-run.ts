import type { RunHandle } from '../../../client/run-handle.js';
import type { RunEvent } from '../../../contracts/event.js';
import type { StreamEntry, StreamSource } from '../../../streams/stream.js';
import type { Cursor } from './cursor.js';

/** A stored event of a run, or a stored piece of its token stream. */
export type StoredItem = { readonly type: 'event'; readonly event: RunEvent } | { readonly type: 'stream'; readonly event: StreamEntry };

/**
 * Yields what is stored of a run behind a place: its events in order, and the tokens of each answer before the event that has the answer.
 * Reads no further than its consumer. Throws as `RunHandle.events` does: `NO_WORKER` without a worker.
 */
export async function* replayRun(run: RunHandle, streams: StreamSource, start: Cursor): AsyncGenerator<StoredItem> {
  // a source whose signal is aborted ends after what is stored
  const tokens = new Pulled(streams.read(run.runId, AbortSignal.abort(), start.token?.id));
  try {
    for (let after = start.event; ; ) {
      const { events, next } = await run.events({ after });
      for (const event of events) {
        if (ANSWER_ENDS.has(event.type) && 'turn' in event) yield* tokensOf(event.turn, tokens);
        yield { type: 'event', event };
      }
      // without events, the run has not begun: its tokens come after its start
      if (next === 0) return;
      if (events.length === 0 || next <= after) break;
      after = next;
    }
    for (let token = await tokens.peek(); token; token = await tokens.peek()) yield { type: 'stream', event: tokens.take(token) };
  } finally {
    await tokens.close();
  }
}

/** The events that come after the tokens of an answer. */
const ANSWER_ENDS: ReadonlySet<RunEvent['type']> = new Set(['model.completed', 'model.failed', 'model.interrupted']);

/** The tokens up to a turn. The reserved final answer has the number of the last turn, and an event of its own. */
async function* tokensOf(turn: number, tokens: Pulled): AsyncGenerator<StoredItem> {
  for (let taken = 0; ; taken += 1) {
    const token = await tokens.peek();
    if (!token || token.turn > turn) return;
    if (taken > 0 && token.turn === turn && token.type === 'reset' && token.final) return;
    yield { type: 'stream', event: tokens.take(token) };
  }
}

/** A stream whose next piece can be looked at before it is taken. */
class Pulled {
  readonly #iterator: AsyncIterator<StreamEntry>;
  #next: StreamEntry | undefined;

  constructor(stream: AsyncIterable<StreamEntry>) {
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  /** The next piece. Undefined at the end. */
  async peek(): Promise<StreamEntry | undefined> {
    if (this.#next) return this.#next;
    const { done, value } = await this.#iterator.next();
    if (!done) this.#next = value;
    return this.#next;
  }

  /** Takes the piece that `peek` returned. */
  take(token: StreamEntry): StreamEntry {
    this.#next = undefined;
    return token;
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
