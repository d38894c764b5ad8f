import { HTTP_LIMITS } from '../../contracts/constants/limits.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { TranscriptPage } from '../../contracts/schemas/page.js';

/** The run whose transcript is read. */
export interface ReadRun {
  transcript(options: { readonly from: number }): AsyncIterable<TranscriptPage>;
}

/**
 * The transcript of a run that is followed, for all its clients: each message is read once, and kept as far as
 * `HTTP_LIMITS.followedMessagesBytesMax`, also after a compaction removed it from the transcript.
 */
export class RunMessages {
  readonly #run: ReadRun;
  #kept: Message[] = [];
  #bytes = 0;
  /** Index of the next message in the transcript, and the message before it. */
  #next = 0;
  #last: Message | undefined;
  #reading: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  constructor(run: ReadRun) {
    this.#run = run;
  }

  /**
   * The messages that are kept, oldest first, once `has` is true of them. If it is not, they are read anew, once. Throws as
   * `RunHandle.transcript` does: `NO_WORKER` without a worker.
   */
  async until(has: (messages: readonly Message[]) => boolean): Promise<readonly Message[]> {
    if (!has(this.#kept)) await this.#refresh();
    return this.#kept;
  }

  /** Resolves after a read that began after the call. Callers at the same time share it. */
  #refresh(): Promise<void> {
    if (!this.#reading) return this.#begin();
    // the read in progress may have begun before the message was there
    this.#following ??= this.#reading.then(ignore, ignore).then(() => {
      this.#following = undefined;
      return this.#begin();
    });
    return this.#following;
  }

  #begin(): Promise<void> {
    const reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  async #read(): Promise<void> {
    const from = this.#last ? this.#next - 1 : 0;
    let isFirst = true;
    let wasMoved = this.#last !== undefined;
    for await (const page of this.#run.transcript({ from })) {
      if (isFirst && this.#last && page.messages[0]?.id === this.#last.id) wasMoved = false;
      isFirst = false;
      if (wasMoved) break;
      this.#take(page);
    }
    if (!wasMoved) return;
    // a compaction replaced the messages before
    this.#last = undefined;
    this.#next = 0;
    await this.#read();
  }

  #take({ from, messages }: { readonly from: number; readonly messages: readonly Message[] }): void {
    const ids = new Set(this.#kept.map(({ id }) => id));
    for (const [index, message] of messages.entries()) {
      this.#next = from + index + 1;
      this.#last = message;
      if (ids.has(message.id)) continue;
      this.#kept.push(message);
      this.#bytes += sizeOf(message);
    }
    while (this.#bytes > HTTP_LIMITS.followedMessagesBytesMax && this.#kept.length > 1) this.#bytes -= sizeOf(this.#kept.shift());
  }
}

function sizeOf(message: Message | undefined): number {
  return message ? JSON.stringify(message).length : 0;
}

function ignore(): void {
  // who began the read gets its error
}
