import { setTimeout as delay } from 'node:timers/promises';
import { REDIS_STREAM_LIMITS } from '../contracts/constants/limits.js';
import type { RedisServer } from './redis-client.js';
import { RedisLink, RedisRefusal, reportSometimes } from './redis-link.js';
import { checkServer, EVENT_FIELD, streamKey } from './redis-stream.js';
import type { StreamEvent, StreamSink } from './stream.js';
import { StreamBuffer } from './stream-buffer.js';

/** Options of `RedisStreamSink`. */
export type RedisStreamSinkOptions = RedisServer & {
  /** The beginning of every key; the rest is the run ID. Give each Temporal namespace its own. @default `perdure:stream:` */
  readonly keyPrefix?: string;
  /** The time after the last token of a run at which its stream is deleted, in milliseconds. @default a day */
  readonly ttlMs?: number;
  /** The number of entries to which a stream is trimmed, about. The oldest go first. @default 10,000 */
  readonly entriesMax?: number;
  /** Called if Redis cannot be reached or refuses a stream, at most once a minute. Runs continue. Its message has no credentials. */
  readonly onError?: (error: Error) => void;
};

/**
 * Writes token streams to Redis Streams, one for each run, so that watchers on other hosts can read them. While Redis cannot be reached,
 * events wait in memory within the bounds of `StreamBuffer`, and are written once it answers again. It never fails or delays a run, and
 * does not keep a process alive.
 */
export class RedisStreamSink implements StreamSink {
  readonly #link: RedisLink;
  readonly #buffer: StreamBuffer;
  readonly #keyPrefix: string | undefined;
  readonly #trim: { readonly ttlMs: number; readonly entriesMax: number };
  /** True after a flush that ended without an answer, until the next write is acknowledged. */
  #isStalled = false;

  /** Does not connect. Throws PerdureError `REDIS_URL` (2) for an address of another form. */
  constructor(options: RedisStreamSinkOptions) {
    this.#link = new RedisLink({ server: checkServer(options), onError: reportSometimes(options.onError), keepsProcess: false });
    this.#keyPrefix = options.keyPrefix;
    const { ttlMs = REDIS_STREAM_LIMITS.ttlMsDefault, entriesMax = REDIS_STREAM_LIMITS.entriesMaxDefault } = options;
    this.#trim = { ttlMs, entriesMax };
    // the link has reported it
    this.#buffer = new StreamBuffer({ write: (runId, events) => this.#write(runId, events), onError: () => undefined });
  }

  /** The approximate size of the events that wait, in bytes. */
  get bufferedBytes(): number {
    return this.#buffer.bytes;
  }

  publish(event: StreamEvent): void {
    if (!this.#link.isClosed) this.#buffer.publish(event);
  }

  /** Resolves when all published events of the run are readable; immediately while Redis is down, and after half a second at most. */
  async flush(runId: string): Promise<void> {
    const written = this.#buffer.flush(runId);
    if (this.#link.isDown || this.#isStalled) return;
    const limit = new AbortController();
    // the connection does not keep the process alive, and this does
    const isLate = delay(REDIS_STREAM_LIMITS.flushMsMax, true, { signal: limit.signal }).catch(() => false);
    if (await Promise.race([written, isLate])) this.#isStalled = true;
    limit.abort();
  }

  /** Connects, so that a wrong address is reported before the first token. Never rejects. */
  async connect(): Promise<void> {
    await this.#link.send([['PING']]).catch(() => undefined); // reported
  }

  /** Closes the connection and drops events that are not written. Flush before. */
  close(): void {
    this.#link.close();
  }

  async #write(runId: string, events: readonly StreamEvent[]): Promise<void> {
    const key = streamKey(this.#keyPrefix, runId);
    for (let at = 0; at < events.length; at += REDIS_STREAM_LIMITS.commandsMax) {
      const part = events.slice(at, at + REDIS_STREAM_LIMITS.commandsMax);
      await this.#send([...part.map((event) => this.#add(key, event)), ['PEXPIRE', key, String(this.#trim.ttlMs)]]);
    }
  }

  #add(key: string, event: StreamEvent): string[] {
    return ['XADD', key, 'MAXLEN', '~', String(this.#trim.entriesMax), '*', EVENT_FIELD, JSON.stringify(event)];
  }

  /** Sends until the server has answered. A lost answer makes events come twice, which readers drop. */
  async #send(commands: readonly (readonly string[])[]): Promise<void> {
    while (!this.#link.isClosed) {
      try {
        await this.#link.send(commands);
        this.#isStalled = false;
        return;
      } catch (error) {
        if (error instanceof RedisRefusal) throw error;
      }
    }
  }
}
