/** Limits of built-in tools that agents list. limits.ts exports them too. */

import { DAY_MS, MIB, SECOND_MS } from './units.js';

/** Limits of `fetch_url`. A web server is a third-party program: each limit bounds what it can cost. */
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

/** Limits of questions to people. A model or a server writes them: each limit bounds what a person must read. */
export const QUESTION_LIMITS = {
  /** Characters of a question. A longer text belongs into a file. */
  questionCharsMax: 4_000,
  /** Choices of a question. */
  choicesMax: 20,
  /** Characters of a choice. */
  choiceCharsMax: 200,
  /** Characters of an answer. The model reads it whole. */
  answerCharsMax: 10_000,
  /** Questions of a run that wait at the same time. */
  pendingMax: 10,
  /** Ended questions that a run keeps. */
  answeredKept: 20,
  /** Beginning of a question or answer in an event. */
  eventCharsMax: 500,
} as const;

/** Limits of `sleep`. */
export const SLEEP_LIMITS = {
  /** Shortest sleep in seconds. */
  secondsMin: 1,
  /** Longest sleep. */
  msMax: 7 * DAY_MS,
  /** After a sleep of at least this length, the loop guard forgets earlier turns: a run that polls every minute is not a loop. */
  pollMsMin: 30 * SECOND_MS,
} as const;

/** Limits of `apply_patch`. */
export const PATCH_LIMITS = {
  /** Length of a patch. */
  patchBytesMax: MIB,
  /** Files of a patch. */
  filesMax: 100,
} as const;
