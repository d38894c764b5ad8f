/** Argument of a query that answers in pages. */
export interface PageRequest {
  /** Index of the first entry. */
  readonly from: number;
  /** Index after the last entry. @default the end */
  readonly to?: number;
  /** Size of the page in bytes, at most 192 KiB. @default 128 KiB */
  readonly bytesMax?: number;
  /**
   * An entry that is larger than a page comes in parts: where its part begins, 0 for the first one. Query `transcript` sends such an
   * entry whole when `offset` is absent.
   */
  readonly offset?: number;
}

/** A part of the JSON text of one entry. The parts of an entry, joined in order, are its JSON. Positions are UTF-16 units. */
export interface PagePart {
  /** Position at which the part begins. */
  readonly offset: number;
  /** `offset` of the next part; `length` after the last one. */
  readonly next: number;
  /** Length of the whole JSON text. */
  readonly length: number;
  /** The part. */
  readonly text: string;
}

/** One page of entries, or one part of an entry that is larger than a page. */
export interface Page<Entry> {
  /** Index of the first entry of the page. */
  readonly from: number;
  /** Index of the first entry after the page. It stays at `from` until the last part of a large entry. */
  readonly next: number;
  readonly entries: readonly Entry[];
  /** A part of the entry at `from`. `entries` is empty then. */
  readonly part?: PagePart;
}
