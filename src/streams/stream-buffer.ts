import { STREAM_LIMITS } from '../contracts/constants/limits.js';
import type { StreamEvent } from './stream.js';

/** Options of `StreamBuffer`. */
export interface StreamBufferOptions {
  /** Stores events of one run, in order. Called again for the run only after it has settled. Events of a rejected call are dropped. */
  readonly write: (runId: string, events: readonly StreamEvent[]) => Promise<void>;
  /** Receives what `write` rejects with. */
  readonly onError: (error: unknown) => void;
}

interface Pending {
  events: StreamEvent[];
  /** The approximate size of `events`. */
  waitingBytes: number;
  /** The same with the events that are being written. */
  bytes: number;
  timer: NodeJS.Timeout | undefined;
  writing: Promise<void> | undefined;
  /** True: somebody waits for all of it. */
  isFlushing: boolean;
}

/**
 * The memory of a sink, which bounds it: collects events for `STREAM_LIMITS.coalesceMs`, merges pieces of one text, and writes them in
 * order, one write at a time for each run. While a write lasts, events are collected up to `STREAM_LIMITS.bufferedBytesMax` for the run
 * and `STREAM_LIMITS.sinkBytesMax` for all runs; further ones are dropped.
 */
export class StreamBuffer {
  readonly #options: StreamBufferOptions;
  readonly #pending = new Map<string, Pending>();
  #bytes = 0;

  constructor(options: StreamBufferOptions) {
    this.#options = options;
  }

  /** The approximate size of all events in memory, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Never throws. */
  publish(event: StreamEvent): void {
    if (this.#bytes > STREAM_LIMITS.sinkBytesMax) return;
    const pending = this.#of(event.runId);
    // a stalled store must not fill the memory of the worker; the transcript contains the whole response
    if (pending.bytes > STREAM_LIMITS.bufferedBytesMax) return;
    const added = addEvent(pending.events, event);
    pending.waitingBytes += added;
    pending.bytes += added;
    this.#bytes += added;
    this.#writeSoon(event.runId, pending);
  }

  /** Resolves when all published events of the run are written or dropped. Never rejects. */
  async flush(runId: string): Promise<void> {
    const pending = this.#pending.get(runId);
    if (!pending) return;
    pending.isFlushing = true;
    this.#start(runId, pending);
    await pending.writing;
  }

  #of(runId: string): Pending {
    const known = this.#pending.get(runId);
    if (known) return known;
    const pending: Pending = { events: [], waitingBytes: 0, bytes: 0, timer: undefined, writing: undefined, isFlushing: false };
    this.#pending.set(runId, pending);
    return pending;
  }

  #writeSoon(runId: string, pending: Pending): void {
    if (pending.writing) return;
    pending.timer ??= setTimeout(() => this.#start(runId, pending), STREAM_LIMITS.coalesceMs);
  }

  #start(runId: string, pending: Pending): void {
    clearTimeout(pending.timer);
    pending.timer = undefined;
    pending.writing ??= this.#drain(runId, pending);
  }

  /** Writes what was collected. What arrives meanwhile is collected again, unless somebody waits for it. */
  async #drain(runId: string, pending: Pending): Promise<void> {
    do await this.#write(runId, pending);
    while (pending.isFlushing && pending.events.length > 0);
    pending.isFlushing = false;
    pending.writing = undefined;
    if (pending.events.length > 0) this.#writeSoon(runId, pending);
    else this.#pending.delete(runId);
  }

  async #write(runId: string, pending: Pending): Promise<void> {
    const { events, waitingBytes } = pending;
    pending.events = [];
    pending.waitingBytes = 0;
    try {
      await this.#options.write(runId, events);
    } catch (error) {
      this.#options.onError(error);
    }
    pending.bytes -= waitingBytes;
    this.#bytes -= waitingBytes;
  }
}

/** What an event takes beside its text, as an object and as JSON. */
const EVENT_BYTES = 256;

/** Adds an event, or appends its text to the last event. Returns the approximate number of bytes added. */
function addEvent(events: StreamEvent[], event: StreamEvent): number {
  const last = events.at(-1);
  if (!isText(event)) {
    events.push(event);
    return EVENT_BYTES;
  }
  if (!last || !isText(last) || !continues(last, event)) {
    events.push(event);
    return EVENT_BYTES + event.text.length;
  }
  events[events.length - 1] = { ...event, text: last.text + event.text, firstSeq: last.firstSeq ?? last.seq };
  return event.text.length;
}

type TextEvent = StreamEvent & { readonly type: 'text' | 'thinking' };

/** True for the next piece of the same text, while that is short enough for a reader. */
function continues(last: TextEvent, event: TextEvent): boolean {
  const isNext = last.epoch === event.epoch && last.seq + 1 === (event.firstSeq ?? event.seq);
  return isNext && last.type === event.type && last.turn === event.turn && last.text.length < STREAM_LIMITS.eventCharsMax;
}

function isText(event: StreamEvent): event is TextEvent {
  return event.type === 'text' || event.type === 'thinking';
}
