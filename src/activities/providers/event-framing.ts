const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Follows the bytes of an event stream and tells whether its last event is ended by a blank line, and how large it is. */
export class EventFraming {
  #lineIsEmpty = true;
  #afterCarriageReturn = false;
  /** Bytes since the last blank line. */
  eventBytes = 0;
  /** Bytes in all. */
  totalBytes = 0;

  /** True when bytes came after the last blank line: the event they belong to is not ended. */
  get open(): boolean {
    return this.eventBytes > 0;
  }

  add(chunk: Uint8Array): void {
    this.totalBytes += chunk.length;
    for (const byte of chunk) this.#addByte(byte);
  }

  /** Lines end by LF, CR or CRLF; a chunk may end between the two. */
  #addByte(byte: number): void {
    const endsLine = byte === CARRIAGE_RETURN || (byte === LINE_FEED && !this.#afterCarriageReturn);
    const isRestOfLineEnd = byte === LINE_FEED && this.#afterCarriageReturn;
    this.#afterCarriageReturn = byte === CARRIAGE_RETURN;
    if (isRestOfLineEnd) return;
    if (endsLine && this.#lineIsEmpty) {
      this.eventBytes = 0;
      return;
    }
    this.eventBytes += 1;
    this.#lineIsEmpty = endsLine;
  }
}
