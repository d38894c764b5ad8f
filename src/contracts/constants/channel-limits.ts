/** Limits of chat channels. limits.ts exports them too. */

import { KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Limits of chat channels. */
export const CHANNEL_LIMITS = {
  /** Default size from which a block ends at the next paragraph, in characters. Shorter paragraphs share a block. */
  blockCharsMinDefault: 600,
  /** Default size of a block, in characters. A chat shows it without folding. */
  blockCharsMaxDefault: 2_000,
  /** Smallest `charsMax`: a block has room for the lines that close and reopen a code fence. */
  blockCharsMaxMin: 100,
  /** Largest `charsMax`. */
  blockCharsMaxMax: 40_000,
  /** Default time without new text after which the finished sentences of an answer are sent. */
  idleMsDefault: 2 * SECOND_MS,
  /** Longest such time. */
  idleMsMax: MINUTE_MS,
  /** Part of an answer that is sent while the model writes it, in characters. The rest is sent when the answer is complete. */
  liveCharsMax: 32 * KIB,
  /** Shortest time between two looks at an answer that grows. A look costs as much as the answer is long, and tokens come faster. */
  growEveryMs: 100,
  /** Longest pause between two blocks. */
  pauseMsMax: MINUTE_MS,
  /** Time between two typing indicators. Most platforms show one for a few seconds. */
  typingEveryMs: 4 * SECOND_MS,
  /** Time limit of a request to a platform. */
  requestTimeoutMs: 10 * SECOND_MS,
  /** Answer of a platform that is read, in bytes. */
  answerBytesMax: MIB,
  /** Wait before a failed request is repeated; doubled each time. */
  retryMsMin: SECOND_MS,
  /** Longest such wait, without a Retry-After. */
  retryMsMax: 30 * SECOND_MS,
  /** Longest wait that a Retry-After can request. */
  retryAfterMsMax: 10 * MINUTE_MS,
  /** Wait before a request is repeated whose key was refused. An operator must replace the key. */
  unauthorizedMs: MINUTE_MS,
  /** Age of a signed request. An older one may be a replay. */
  signatureAgeMsMax: 5 * MINUTE_MS,
  /** Text of a message from a platform, in characters. More is cut. */
  textCharsMax: 100_000,
  /** Time after which a message that the session does not list is reported as not answered. A platform repeats an event before. */
  missingMs: 10 * MINUTE_MS,
  /**
   * Time between two looks at a session while an answer is sent: the session forgets its older runs, and a platform that does not answer
   * delays a conversation by hours.
   */
  learnEveryMs: 15 * SECOND_MS,
  /** Ids of settled messages that a channel remembers, so that a repeated event has no effect. */
  settledIdsMax: 5_000,
  /** Size of a journal from which it is written anew with only what is open, in bytes. */
  journalBytesMax: MIB,
  /** Longest name of a channel, in characters. It is part of session keys, file names and addresses. */
  nameCharsMax: 40,
  /** Channels of a config. */
  channelsMax: 20,
} as const;
