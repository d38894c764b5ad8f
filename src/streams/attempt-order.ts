import type { StreamEntry, StreamEvent } from './stream.js';

/** The attempt that is read, and its last event. */
interface Place {
  readonly epoch: number;
  readonly seq: number;
}

const NOWHERE: Place = { epoch: -1, seq: 0 };

/** A position that no store has, or its first one: it reads from the beginning. */
const BEGINNING = '0';

/**
 * Makes the entries of a source from events in stored order: drops repeated events and those of superseded attempts, adds a `reset` that
 * was lost, and a `gap` where events are missing. An entry's `id` contains the position in the store and the place in the stream, so that
 * a reader that resumes does all of this across its interruption too.
 */
export class AttemptOrder {
  #position: string | undefined;
  #place: Place = NOWHERE;

  /** `after` is the `id` of an entry. An id of another form counts as none. */
  constructor(after?: string) {
    const parts = /^(?<position>[^:]+):(?<epoch>\d{1,15}):(?<seq>\d{1,15})$/u.exec(after ?? '')?.groups;
    if (!parts) return;
    this.#position = parts['position'];
    this.#place = { epoch: Number(parts['epoch']), seq: Number(parts['seq']) };
  }

  /** The position in the store behind the last event. Undefined at the beginning. */
  get position(): string | undefined {
    return this.#position;
  }

  /**
   * Takes the next stored event. Returns the entries to yield, mostly one.
   *
   * @param position the position behind the event, as the store counts. It must not contain `:`
   */
  take(event: StreamEvent, position: string): StreamEntry[] {
    const { epoch, seq } = this.#place;
    const before = this.#position ?? BEGINNING;
    this.#position = position;
    if (event.epoch < epoch || (event.epoch === epoch && event.seq <= seq)) return [];
    const added = this.#missing(event).map((type): StreamEntry => {
      const { runId, turn, attempt } = event;
      // behind the place before the event: whoever resumes here gets the event again
      return { runId, turn, attempt, epoch: event.epoch, seq, type, id: idOf(before, this.#place) };
    });
    this.#place = { epoch: event.epoch, seq: event.seq };
    return [...added, { ...event, id: idOf(position, this.#place) }];
  }

  /** What is to be said before the event: an attempt whose beginning was lost, and a hole. */
  #missing(event: StreamEvent): ('reset' | 'gap')[] {
    const first = 'firstSeq' in event && event.firstSeq !== undefined ? event.firstSeq : event.seq;
    const isNew = event.epoch > this.#place.epoch;
    if (isNew && event.type === 'reset') return [];
    // an attempt begins with its reset, which has 1
    const next = isNew ? 2 : this.#place.seq + 1;
    return [...(isNew ? (['reset'] as const) : []), ...(first > next ? (['gap'] as const) : [])];
  }
}

function idOf(position: string, { epoch, seq }: Place): string {
  return `${position}:${Math.max(epoch, 0)}:${seq}`;
}
