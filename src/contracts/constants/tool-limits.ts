/** Limits of built-in tools that agents list. limits.ts exports them too. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1_000;

/** Limits of `fetch_url`. A server of the web is a program of others: each limit bounds what it can cost. */
export const FETCH_LIMITS = {
  /** Length of a URL. */
  urlCharsMax: 2_000,
  /** Part of a page that is read, decompressed. */
  pageBytesMax: 2 * MIB,
  /** Redirects of one call. */
  redirectsMax: 5,
  /** Time for a connection. */
  connectTimeoutMs: 10 * SECOND_MS,
  /** Longest time without a byte. */
  silenceMs: 15 * SECOND_MS,
  /** Time limit of a call. */
  timeoutMs: 30 * SECOND_MS,
  /** Time for finding the text of a page. */
  convertMs: 5 * SECOND_MS,
  /** Elements inside each other that are read. */
  depthMax: 200,
  /** Elements of one element that are read. */
  childrenMax: 20_000,
} as const;

/** Limits of `apply_patch`. */
export const PATCH_LIMITS = {
  /** Length of a patch. */
  patchBytesMax: MIB,
  /** Files of a patch. */
  filesMax: 100,
} as const;
