import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Message } from '../../contracts/schemas/message.js';

/** Messages before the watch that are read: those of turns that are shown now. */
const EARLIER_MAX = 64;
/** A compaction keeps fewer messages. */
const KNOWN_MAX = 1_000;

/** Reads the messages of a run as they are added to its transcript. */
export class RunMessages {
  readonly #run: Pick<RunHandle, 'transcript'>;
  #next: number | undefined;
  #length = 0;
  /** The ids of the last messages that were read. */
  #known: ReadonlySet<string> = new Set();

  constructor(run: Pick<RunHandle, 'transcript'>) {
    this.#run = run;
  }

  /** The messages since the last call. Empty if no worker answers: a display shows less then. */
  async next(): Promise<readonly Message[]> {
    try {
      return await this.#read();
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error;
      return [];
    }
  }

  async #read(): Promise<Message[]> {
    const from = this.#next;
    if (from === undefined) return await this.#readFrom(await this.#start());
    const read = await this.#readFrom(from);
    // a transcript that was compacted has fewer messages than were read
    return this.#length >= from ? read : await this.#readFrom(await this.#start());
  }

  async #readFrom(from: number): Promise<Message[]> {
    const messages: Message[] = [];
    for await (const page of this.#run.transcript({ from })) {
      messages.push(...page.messages);
      this.#next = page.next;
      this.#length = page.length;
    }
    const unread = messages.filter(({ id }) => !this.#known.has(id));
    this.#known = new Set([...this.#known, ...unread.map(({ id }) => id)].slice(-KNOWN_MAX));
    return unread;
  }

  async #start(): Promise<number> {
    for await (const { length } of this.#run.transcript({ from: 0, bytesMax: 1 })) return Math.max(0, length - EARLIER_MAX);
    return 0;
  }
}
