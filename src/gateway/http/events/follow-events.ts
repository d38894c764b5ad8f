import type { RunHandle } from '../../../client/run-handle.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { StreamSource } from '../../../streams/stream.js';
import type { Cursor } from './cursor.js';
import { replayRun } from './replay-run.js';
import { EventWriter, type SentEvent } from './sent-event.js';

/** Options of `followEvents`. */
export interface FollowOptions {
  /** Only events behind this place. */
  readonly start: Cursor;
  /** Stops. The run continues. */
  readonly signal: AbortSignal;
}

/**
 * Yields the events of a run behind a place: first what is stored, then what arrives, and its result as the last one. Ends without a result
 * only if the signal aborts. Continues through a missing worker and a lost connection. Throws `RUN_NOT_FOUND`.
 */
export async function* followEvents(
  run: RunHandle,
  streams: StreamSource,
  { start, signal }: FollowOptions,
): AsyncGenerator<readonly SentEvent[]> {
  const writer = new EventWriter(run.runId, start);
  for await (const item of stored(run, streams, start)) {
    if (signal.aborted) return;
    yield item.type === 'event' ? writer.event(item.event) : writer.token(item.event);
  }
  const { event: after, token } = writer.cursor;
  for await (const item of run.watch({ signal, after, ...(token ? { streamAfter: token.id } : {}) })) {
    if (item.type === 'event') yield writer.event(item.event);
    else if (item.type === 'stream') yield writer.token(item.event);
    else if (item.type === 'notice' && item.code === 'EVENTS_MISSING') yield writer.lost();
    else if (item.type === 'result') yield writer.result(item.result);
  }
}

/** What is stored, as far as it can be read now. */
async function* stored(run: RunHandle, streams: StreamSource, start: Cursor): ReturnType<typeof replayRun> {
  try {
    yield* replayRun(run, streams, start);
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
    // the watch waits for a worker
  }
}
