import { setTimeout as delay, setImmediate as turnOfLoop } from 'node:timers/promises';
import { REDIS_STREAM_LIMITS } from '../contracts/constants/limits.js';
import { RedisLink, type RedisLinkOptions, RedisRefusal } from './redis-link.js';
import { entriesIn, isBehind, type RedisEntry } from './redis-stream.js';

/** A reader of one stream. */
interface Reader {
  readonly key: string;
  /** The last entry that was read. */
  id: string;
  entries: RedisEntry[];
  error: Error | undefined;
  /** True: it waits for the end of the next read only. */
  isLast: boolean;
  wake: () => void;
}

/** One reader's view of a `RedisTail`. */
export interface TailReader {
  /**
   * Returns new entries in order, and waits for the first one. After the abort of the signal, it returns what a last read finds, at most
   * `REDIS_STREAM_LIMITS.lastReadMs` later, then nothing. Throws if the server refuses to read the stream.
   */
  next(signal: AbortSignal): Promise<readonly RedisEntry[]>;
  close(): void;
}

/**
 * Reads the streams of many readers over one connection: each read waits for new entries of all of them. It connects for the first
 * reader, and closes the connection after the last one. A reader that is slow is left out while `readAheadMax` of its entries wait.
 */
export class RedisTail {
  readonly #options: RedisLinkOptions;
  readonly #readers = new Set<Reader>();
  #link: RedisLink;
  #isRunning = false;

  constructor(options: Omit<RedisLinkOptions, 'keepsProcess'>) {
    this.#options = { ...options, keepsProcess: true };
    this.#link = new RedisLink(this.#options);
  }

  /** Begins to read a stream behind an entry. */
  open(key: string, id: string): TailReader {
    const reader: Reader = { key, id, entries: [], error: undefined, isLast: false, wake: () => undefined };
    this.#readers.add(reader);
    if (!this.#isRunning) void this.#run();
    return { next: (signal) => nextOf(reader, signal), close: () => this.#leave(reader) };
  }

  /** The last reader does not wait for a server that does not answer. */
  #leave(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#link.close();
  }

  /** Reads while there are readers. Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#readers.size > 0) {
      if (this.#link.isClosed) this.#link = new RedisLink(this.#options);
      // readers that have just got entries take part again
      await turnOfLoop();
      const asked = [...this.#readers].filter(({ entries }) => entries.length < REDIS_STREAM_LIMITS.readAheadMax);
      if (asked.length === 0) await delay(REDIS_STREAM_LIMITS.blockMs);
      else await this.#read(asked);
    }
    this.#isRunning = false;
  }

  async #read(asked: readonly Reader[]): Promise<void> {
    const last = asked.filter(({ isLast }) => isLast);
    try {
      const [reply] = await this.#link.send([readCommand(asked)], REDIS_STREAM_LIMITS.timeoutMs + REDIS_STREAM_LIMITS.blockMs);
      const streams = entriesIn(reply);
      for (const reader of asked) give(reader, streams.get(reader.key) ?? []);
    } catch (error) {
      // anything but a refusal is a lost connection: the next read opens another one, and begins where this one did
      if (error instanceof RedisRefusal) await this.#refused(asked, error);
    }
    for (const reader of last) reader.wake();
  }

  /** A key of another type fails the command for all streams in it. */
  async #refused(asked: readonly Reader[], error: RedisRefusal): Promise<void> {
    const [first, ...others] = asked;
    if (first && others.length === 0) {
      first.error = error;
      this.#readers.delete(first);
      return first.wake();
    }
    for (const reader of asked) await this.#read([reader]);
  }
}

/** Reads each stream behind the entry that the slowest of its readers has. */
function readCommand(asked: readonly Reader[]): string[] {
  const ids = new Map<string, string>();
  for (const { key, id } of asked) {
    const known = ids.get(key);
    if (known === undefined || isBehind(known, id)) ids.set(key, id);
  }
  const { readEntriesMax, blockMs } = REDIS_STREAM_LIMITS;
  return ['XREAD', 'COUNT', String(readEntriesMax), 'BLOCK', String(blockMs), 'STREAMS', ...ids.keys(), ...ids.values()];
}

function give(reader: Reader, entries: readonly RedisEntry[]): void {
  const news = entries.filter(({ id }) => isBehind(id, reader.id));
  const newest = news.at(-1);
  if (!newest) return;
  reader.id = newest.id;
  reader.entries.push(...news);
  reader.wake();
}

async function nextOf(reader: Reader, signal: AbortSignal): Promise<readonly RedisEntry[]> {
  if (reader.entries.length === 0 && !reader.error) {
    reader.isLast = signal.aborted;
    await woken(reader, signal);
  }
  if (reader.error) throw reader.error;
  const { entries } = reader;
  reader.entries = [];
  return entries;
}

/** Waits for entries, for an error, and for the signal; after its abort for the end of a read that began later, or the end of its time. */
async function woken(reader: Reader, signal: AbortSignal): Promise<void> {
  const woke = new AbortController();
  const timer = signal.aborted ? setTimeout(() => reader.wake(), REDIS_STREAM_LIMITS.lastReadMs) : undefined;
  await new Promise<void>((resolve) => {
    reader.wake = resolve;
    if (!signal.aborted) signal.addEventListener('abort', () => resolve(), { once: true, signal: woke.signal });
  });
  clearTimeout(timer);
  woke.abort();
}
