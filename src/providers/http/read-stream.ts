import { ModelError } from '../contract/model-error.js';
import type { GuardedFetch } from './guarded-fetch.js';

/** Where the events of one answer go. */
export interface AnswerReader<Event> {
  add(event: Event): void;
  /** True as soon as nothing is missing from the answer but its accounts. */
  isComplete(): boolean;
}

/**
 * Reads a stream to its end. A fault after the answer is complete does no harm: what was paid for is kept. Rejects with the signal's
 * reason, with what ended the stream before, or with `Model.StreamTruncated` for an event cut in its middle; whether an
 * answer that ended without a fault is complete is for the caller to ask.
 */
export async function readEvents<Event>(
  stream: AsyncIterable<Event>,
  reader: AnswerReader<Event>,
  { guard, signal }: { readonly guard: GuardedFetch; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for await (const event of stream) {
      addEvent(reader, event);
      if (reader.isComplete()) guard.expectEnd();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (reader.isComplete()) return;
    if (error instanceof SyntaxError && guard.endedWithinEvent()) {
      throw new ModelError('Model.StreamTruncated', 'the response ended in the middle of an event');
    }
    throw error;
  }
  // an abort ends the SDKs' loop without an error, so it is looked at before the answer is
  signal.throwIfAborted();
  const failure = guard.failure();
  if (failure && !reader.isComplete()) throw failure;
}

/** What a server sends is not checked field by field: an event that cannot be read is told as such, and not as a cut. */
function addEvent<Event>(reader: AnswerReader<Event>, event: Event): void {
  try {
    reader.add(event);
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError('Model.BadResponse', 'the stream contains an event of an unknown shape', { cause: error });
  }
}

/**
 * A text of a stream's event, nothing for what is absent. Throws a TypeError for any other value: added to an answer it would be read as
 * words of the model, such as `undefined`.
 */
export function streamText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new TypeError(`a ${typeof value} where a text was to be`);
  return value;
}
