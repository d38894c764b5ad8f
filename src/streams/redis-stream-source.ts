import { AttemptOrder } from './attempt-order.js';
import { parseEvent } from './parse-event.js';
import type { RedisServer } from './redis-client.js';
import { reportSometimes } from './redis-link.js';
import { checkServer, streamKey } from './redis-stream.js';
import { RedisTail } from './redis-tail.js';
import type { StreamEntry, StreamSource } from './stream.js';

/** Options of `RedisStreamSource`. */
export type RedisStreamSourceOptions = RedisServer & {
  /** The `keyPrefix` of the sink. @default `perdure:stream:` */
  readonly keyPrefix?: string;
  /** Called if Redis cannot be reached, at most once a minute. Readers wait and continue. Its message has no credentials. */
  readonly onError?: (error: Error) => void;
};

/**
 * Reads the streams of a RedisStreamSink, on any host: past events, then new ones. All readers share one connection, which is open while
 * there are readers. After a lost connection, a reader continues behind its last event. It throws only if Redis refuses to read the stream.
 */
export class RedisStreamSource implements StreamSource {
  readonly #keyPrefix: string | undefined;
  readonly #tail: RedisTail;

  /** Does not connect. Throws PerdureError `REDIS_URL` (2) for an address of another form. */
  constructor(options: RedisStreamSourceOptions) {
    this.#keyPrefix = options.keyPrefix;
    this.#tail = new RedisTail({ server: checkServer(options), onError: reportSometimes(options.onError) });
  }

  async *read(runId: string, signal: AbortSignal, after?: string): AsyncGenerator<StreamEntry> {
    const order = new AttemptOrder(after);
    const reader = this.#tail.open(streamKey(this.#keyPrefix, runId), idIn(order.position));
    try {
      while (true) {
        const isLast = signal.aborted;
        const entries = await reader.next(signal);
        for (const { id, event } of entries) {
          const parsed = parseEvent(event, runId);
          if (parsed) yield* order.take(parsed, id);
        }
        if (isLast && entries.length === 0) return;
      }
    } finally {
      reader.close();
    }
  }
}

function idIn(position: string | undefined): string {
  return /^\d{1,15}-\d{1,15}$/u.test(position ?? '') ? `${position}` : '0-0';
}
