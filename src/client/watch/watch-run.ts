import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { CLIENT_LIMITS } from '../../contracts/constants/limits.js';
import type { RunEvent } from '../../contracts/event.js';
import { events as eventsQuery, progress as progressQuery } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Progress, RunResult } from '../../contracts/schemas/run.js';
import type { StreamEntry, StreamSource } from '../../streams/stream.js';
import { signalOfRequests, type TemporalAccess } from '../temporal/connection.js';
import { isAborted, unreachable } from '../temporal/errors.js';
import { AsyncQueue } from './async-queue.js';
import { awaitResult } from './await-result.js';

/** Options of `watchRun`. */
export interface WatchOptions {
  /** Stops the watch. The run continues. */
  readonly signal?: AbortSignal;
  /** Yields only events after this `seq`. @default 0, all stored events */
  readonly after?: number;
  /** Yields only tokens behind this `id` of a `stream` item. @default all stored tokens */
  readonly streamAfter?: string;
}

/** The run to watch, and the source of its tokens. */
export interface Watched {
  readonly access: TemporalAccess;
  readonly handle: WorkflowHandle;
  readonly streams: StreamSource | undefined;
}

/**
 * Follows a run to its end: yields its events in order, its progress at most once a second, its tokens as they arrive, and finally its
 * result. Continues through a missing worker and a lost connection. Ends without a result only if the signal aborts. Throws `RUN_NOT_FOUND`.
 */
export async function* watchRun(watched: Watched, options: WatchOptions = {}): AsyncGenerator<WatchItem> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([stop.signal, options.signal]) : stop.signal;
  const queue = new AsyncQueue<WatchItem>();
  const watcher = new Watcher(watched, queue, options);
  const done = watcher.run(signal, stop).then(
    () => queue.close(),
    (error: unknown) => queue.close(options.signal?.aborted ? {} : { error }),
  );
  try {
    yield* queue;
  } finally {
    stop.abort();
    await done;
  }
}

class Watcher {
  readonly #watched: Watched;
  readonly #queue: AsyncQueue<WatchItem>;
  readonly #streamAfter: string | undefined;
  #after: number;
  #lastNotice: string | undefined;
  #askedAt = 0;
  #wake: () => void = () => undefined;
  /** Tokens that came before the first event of their run. Undefined once it was pushed, or cannot be read now. */
  #early: StreamEntry[] | undefined = [];

  constructor(watched: Watched, queue: AsyncQueue<WatchItem>, { after = 0, streamAfter }: WatchOptions) {
    this.#watched = watched;
    this.#queue = queue;
    this.#after = after;
    this.#streamAfter = streamAfter;
    if (after > 0) this.#begin();
  }

  /** Runs the three sources. The result stops the other two and is pushed after their last items. */
  async run(signal: AbortSignal, stop: AbortController): Promise<void> {
    const { access, handle } = this.#watched;
    const polling = this.#poll(signal);
    const streaming = this.#stream(signal).catch((error: unknown) => this.#noticeOf(error));
    // handles rejections that occur before the `await` below
    const others = Promise.allSettled([polling, streaming]);
    try {
      const onConnectionLost = (error: unknown): void => this.#noticeOf(unreachable(access.subject(), error));
      const result = await awaitResult(access, handle, { signal, onConnectionLost });
      stop.abort();
      await polling;
      await this.#pushStart();
      await others;
      await this.#lastEvents();
      this.#queue.push({ type: 'result', result });
    } finally {
      stop.abort();
      this.#begin();
      await others;
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(signal).catch((error: unknown) => this.#noticeOf(error));
      await this.#pause(signal);
    }
  }

  /** Waits for the next poll: one second, or less if the stream shows that a model call starts or ends. */
  async #pause(signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await delay(CLIENT_LIMITS.watchEveryMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(ignoreAbort);
    // the workflow records the call slightly later than the stream
    if (woken.signal.aborted) await delay(SETTLE_MS, undefined, { signal }).catch(ignoreAbort);
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { access, handle } = this.#watched;
    await access.client.withAbortSignal(signalOfRequests(signal), async () => {
      await this.#pushEvents();
      if (Date.now() - this.#askedAt < CLIENT_LIMITS.watchEveryMs) return;
      this.#askedAt = Date.now();
      const progress = await access.query(handle, progressQuery);
      if (!signal.aborted) this.#queue.push({ type: 'progress', progress });
    });
    this.#lastNotice = undefined;
  }

  async #pushEvents(): Promise<void> {
    const { access, handle } = this.#watched;
    while (true) {
      const page = await access.query(handle, eventsQuery, { after: this.#after });
      for (const event of page.events) this.#pushEvent(event);
      if (page.next <= this.#after) return;
      this.#after = page.next;
      if (page.events.length === 0) return;
    }
  }

  #pushEvent(event: RunEvent): void {
    this.#queue.push({ type: 'event', event });
    this.#begin();
  }

  /** Pushes the tokens that came too early. */
  #begin(): void {
    for (const event of this.#early ?? []) this.#queue.push({ type: 'stream', event });
    this.#early = undefined;
  }

  /** Pushes the first event of a run that ended before its events were read. */
  async #pushStart(): Promise<void> {
    const { access, handle } = this.#watched;
    try {
      if (this.#after > 0) return;
      const { events } = await access.query(handle, eventsQuery, { after: 0 });
      const [first] = events;
      if (!first) return;
      this.#after = first.seq;
      this.#pushEvent(first);
    } catch (error) {
      this.#noticeOf(error);
    } finally {
      this.#begin();
    }
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const { streams, handle } = this.#watched;
    if (!streams) return;
    for await (const event of streams.read(handle.workflowId, signal, this.#streamAfter)) {
      if (event.type === 'reset' || event.type === 'end') this.#wake();
      if (this.#early) this.#early.push(event);
      else this.#queue.push({ type: 'stream', event });
    }
  }

  /**
   * Reads the events since the last poll. A busy worker may need longer than one query to load a closed run from its history, so a query
   * that nobody answered is repeated. Has a time limit, so that the result does not wait for a missing worker.
   */
  async #lastEvents(): Promise<void> {
    const { access } = this.#watched;
    const timeout = signalOfRequests(AbortSignal.timeout(LAST_EVENTS_MS));
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await access.client.withAbortSignal(timeout, () => this.#pushEvents());
      } catch (error) {
        const isUnanswered = error instanceof PerdureError && error.code === 'NO_WORKER';
        if (isUnanswered && attempt < LAST_EVENTS_ATTEMPTS && !timeout.aborted) continue;
        // a watcher must not take an incomplete list for the whole
        return this.#noticeOf(timeout.aborted ? lastEventsMissing() : error);
      }
    }
  }

  /** Pushes a notice about an error, once per code. Ignores requests that were aborted on purpose. */
  #noticeOf(error: unknown): void {
    if (isAborted(error)) return;
    const { code, message } = error instanceof PerdureError ? error : { code: 'WATCH_FAILED', message: String(error) };
    // `awaitResult` throws this error
    if (code === 'RUN_NOT_FOUND' || code === this.#lastNotice) return;
    this.#lastNotice = code;
    this.#queue.push({ type: 'notice', code, message });
    this.#begin();
  }
}

const LAST_EVENTS_MS = 15_000;
const LAST_EVENTS_ATTEMPTS = 3;
const SETTLE_MS = 50;

function lastEventsMissing(): PerdureError {
  return new PerdureError(
    'EVENTS_MISSING',
    `no worker returned the last events within ${LAST_EVENTS_MS / 1_000} s; the result is complete`,
    5,
  );
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
}

/**
 * An item of a watch. `notice` concerns the watch, not the run: no worker answers, or the connection is lost for now. `result` is
 * yielded exactly once, as the last item.
 */
export type WatchItem =
  | { readonly type: 'event'; readonly event: RunEvent }
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'stream'; readonly event: StreamEntry }
  | { readonly type: 'notice'; readonly code: string; readonly message: string }
  | { readonly type: 'result'; readonly result: RunResult };
