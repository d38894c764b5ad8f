import type { StreamEntry, StreamEvent, StreamSource } from '../../../src/streams/stream.js';

/** Where an event belongs; the rest is run `run-1`, turn 1, attempt 1, epoch 1000. */
export type Where = Partial<Pick<StreamEvent, 'runId' | 'turn' | 'attempt' | 'epoch'>>;

const HERE = { runId: 'run-1', turn: 1, attempt: 1, epoch: 1_000 };

export function text(seq: number, words: string, where: Where = {}): StreamEvent {
  return { ...HERE, ...where, seq, type: 'text', text: words };
}

export function other(seq: number, type: 'reset' | 'end', where: Where = {}): StreamEvent {
  return { ...HERE, ...where, seq, type };
}

/** An attempt as an activity publishes it: its reset, its words, its end. */
export function attempt(words: readonly string[], where: Where = {}): StreamEvent[] {
  const texts = words.map((piece, index) => text(index + 2, piece, where));
  return [other(1, 'reset', where), ...texts, other(words.length + 2, 'end', where)];
}

/** The text of events, with every other event as `<type>`. */
export function shown(events: readonly StreamEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : `<${event.type}>`)).join('');
}

/** Reads until `enough` is true, then stops the reader, and gives all that it got. */
export async function readUntil(
  source: StreamSource,
  enough: (events: readonly StreamEntry[]) => boolean,
  { runId = HERE.runId, after }: { readonly runId?: string; readonly after?: string | undefined } = {},
): Promise<StreamEntry[]> {
  const stop = new AbortController();
  const events: StreamEntry[] = [];
  for await (const event of source.read(runId, stop.signal, after)) {
    events.push(event);
    if (enough(events)) stop.abort();
  }
  return events;
}

/** Everything that is readable now. */
export async function readAll(
  source: StreamSource,
  place: { readonly runId?: string; readonly after?: string } = {},
): Promise<StreamEntry[]> {
  const events: StreamEntry[] = [];
  for await (const event of source.read(place.runId ?? HERE.runId, AbortSignal.abort(), place.after)) events.push(event);
  return events;
}
