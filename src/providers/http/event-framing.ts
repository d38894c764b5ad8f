const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts the bytes of an event stream after the blank lines that end its events. An SDK that gets whole events need not search a growing
 * one anew with each chunk, which takes seconds for one of some megabytes.
 */
export class EventFraming {
  #unfinished: Uint8Array[] = [];
  #eventBytes = 0;
  #lineIsEmpty = true;
  #afterCarriageReturn = false;
  /** Bytes in all. */
  totalBytes = 0;
  /** Bytes of the chunks that wait for the end of their event. */
  waitingBytes = 0;

  /** Takes a chunk; gives the bytes up to the end of the last event that it ends, with those that waited for it. */
  add(chunk: Uint8Array): Uint8Array | undefined {
    this.totalBytes += chunk.length;
    const end = this.#afterCarriageReturn || chunk.includes(CARRIAGE_RETURN) ? this.#lastEnd(chunk) : this.#lastPlainEnd(chunk);
    this.#wait(chunk.subarray(0, end));
    const events = end > 0 ? this.rest() : undefined;
    this.#wait(chunk.subarray(end));
    return events;
  }

  /** True when bytes came after the last blank line: the event they belong to is not ended. */
  get endsWithinEvent(): boolean {
    return this.#eventBytes > 0;
  }

  /** What waits, and waits no longer. */
  rest(): Uint8Array {
    const [first] = this.#unfinished;
    const bytes = first && this.#unfinished.length === 1 ? first : Buffer.concat(this.#unfinished);
    this.#unfinished = [];
    this.waitingBytes = 0;
    return bytes;
  }

  #wait(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#unfinished.push(bytes);
    this.waitingBytes += bytes.length;
  }

  /** Without carriage returns, as most servers send, the last blank line of a chunk is found at once. */
  #lastPlainEnd(chunk: Uint8Array): number {
    const { buffer, byteOffset, length } = chunk;
    const blankLine = Buffer.from(buffer, byteOffset, length).lastIndexOf('\n\n');
    const endAtStart = this.#lineIsEmpty && chunk[0] === LINE_FEED ? 1 : 0;
    const end = blankLine === -1 ? endAtStart : blankLine + 2;
    this.#eventBytes = end === 0 ? this.#eventBytes + length : length - end;
    if (length > 0) this.#lineIsEmpty = chunk[length - 1] === LINE_FEED;
    return end;
  }

  #lastEnd(chunk: Uint8Array): number {
    let end = 0;
    let at = 0;
    while (at < chunk.length) {
      // within a line no byte ends anything: the next line end is found without looking at each of them
      const lineEnd = this.#lineIsEmpty ? at : nextLineEnd(chunk, at);
      this.#eventBytes += lineEnd - at;
      if (lineEnd > at) this.#afterCarriageReturn = false;
      if (lineEnd === chunk.length) break;
      if (this.#endsEvent(chunk[lineEnd] ?? 0)) end = lineEnd + 1;
      at = lineEnd + 1;
    }
    return end;
  }

  /** Lines end by LF, CR or CRLF; a chunk may end between the two, and the LF then belongs to the event before. */
  #endsEvent(byte: number): boolean {
    const isRestOfLineEnd = byte === LINE_FEED && this.#afterCarriageReturn;
    this.#afterCarriageReturn = byte === CARRIAGE_RETURN;
    if (isRestOfLineEnd) return this.#eventBytes === 0;
    const endsLine = byte === CARRIAGE_RETURN || byte === LINE_FEED;
    const endsEvent = endsLine && this.#lineIsEmpty;
    this.#eventBytes = endsEvent ? 0 : this.#eventBytes + 1;
    this.#lineIsEmpty = endsLine;
    return endsEvent;
  }
}

function nextLineEnd(chunk: Uint8Array, from: number): number {
  const feed = chunk.indexOf(LINE_FEED, from);
  const before = feed === -1 ? chunk.length : feed;
  // most servers send no carriage return at all
  const carriage = chunk.subarray(from, before).indexOf(CARRIAGE_RETURN);
  return carriage === -1 ? before : from + carriage;
}
