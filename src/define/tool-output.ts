/** The text that a tool gives: a short one is simply returned, an endless one is collected piece by piece. */
export interface ToolOutput {
  /** A returned text of at most this many bytes of UTF-8 and lines is read whole by the model; of a longer one a part, with a footer. */
  readonly bytesMax: number;
  readonly linesMax: number;
  /**
   * Begins a text of any length, in memory that does not grow with it. `keep` says which part of a long one the model reads, unless
   * the run's own policy names one. @default the end, or both ends when the end looks like an error or a result
   */
  collect(options?: { readonly keep?: 'head' | 'tail' | 'head-tail' }): OutputCollector;
}

/**
 * A text that is collected while it comes. What is longer than the model reads is kept whole as an artifact, which the model can page.
 *
 * Contract: pieces are taken in the order of `write`; `write` never throws or rejects, and the bytes are the caller's again when its
 * promise resolves (a caller that does not wait loses nothing, but memory grows); `finish` ends it, never rejects, and is called once.
 */
export interface OutputCollector {
  /** Bytes taken so far. */
  readonly bytes: number;
  write(piece: Uint8Array): Promise<void>;
  /** The last line with anything on it, as it stands now: what a watcher is shown. */
  lastLine(): string;
  /** What the tool returns, or puts into the message of what it throws. `title` goes first, within the same bounds. */
  finish(title?: string): Promise<string>;
}
