import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Message } from '../../contracts/schemas/message.js';

/** Messages before the watch that are read: those of turns that are shown now. */
const EARLIER_MAX = 64;

/** Reads the messages of a run as they are added to its transcript. */
export class RunMessages {
  readonly #run: Pick<RunHandle, 'transcript'>;
  #next: number | undefined;

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
    const read = await this.#readFrom(this.#next ?? (await this.#start()));
    // a transcript that was compacted has fewer messages than were read
    return read.length > 0 || this.#next === undefined ? read : await this.#readFrom(await this.#start());
  }

  async #readFrom(from: number): Promise<Message[]> {
    const messages: Message[] = [];
    for await (const page of this.#run.transcript({ from })) {
      messages.push(...page.messages);
      this.#next = page.next;
    }
    return messages;
  }

  async #start(): Promise<number> {
    for await (const { length } of this.#run.transcript({ from: 0, bytesMax: 1 })) return Math.max(0, length - EARLIER_MAX);
    return 0;
  }
}
