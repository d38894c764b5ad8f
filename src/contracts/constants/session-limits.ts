/** Limits of sessions and schedules. limits.ts exports them too. */

import { DAY_MS, HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Limits of one session. */
export const SESSION_LIMITS = {
  /** Default number of messages that may wait. The message in progress does not count. */
  capDefault: 20,
  /** Largest cap. All waiting messages are carried over continue-as-new. */
  capMax: 1_000,
  /** Size of all waiting messages as JSON. Beyond it, a message is handled as if the queue were at its cap. */
  waitingBytesMax: 8 * MIB,
  /** Wait for further `collect` messages after the newest one. People send a thought in several short messages. */
  debounceMsDefault: 500,
  /** Longest such wait. */
  debounceMsMax: MINUTE_MS,
  /** Size of the messages that one run collects, as JSON. More are answered by the next run. */
  collectedBytesMax: MIB,
  /** Messages passed to the active run that have no final state yet. More wait for the next run. */
  steersMax: 100,
  /** Newest runs that query `session` lists. */
  runsShown: 50,
  /** Newest dropped messages that query `session` lists. */
  droppedShown: 200,
  /** Beginning of a dropped message in the summary of `drop: summarize`, in characters. */
  summaryLineCharsMax: 200,
  /** Messages in such a summary. If there are more, the summary gives their number. */
  summaryLinesMax: 50,
  /** Longest name of a channel, in characters. */
  channelCharsMax: 100,
  /** Parts of one message. */
  partsMax: 50,
  /** Attempts to find an unused run id. An earlier session with the same key may have used some. */
  idsTriedMax: 30,
  /** Time limit of an activity that prepares a session or checks its signatures. */
  checkTimeoutMs: 30 * SECOND_MS,
  /** Time to read the conversation of a session from its earlier runs. */
  copyTimeoutMs: 2 * MINUTE_MS,
  /** Default time that `wait` of a client waits. */
  waitMsDefault: 30 * SECOND_MS,
  /** Time between two queries of a client that follows a session. */
  followEveryMs: SECOND_MS,
  /** Runs that a conversation refers to. Beyond it, the next run copies the conversation: a worker without a cache queries each of them. */
  referencedRunsMax: 20,
  /** Age of the oldest such run: a server may remove the history of a closed run after a day. */
  referencedAgeMsMax: 12 * HOUR_MS,
} as const;

/** Limits of schedules. */
export const SCHEDULE_LIMITS = {
  /** Longest name of a schedule, in characters. The id of a run adds the time to it. */
  nameCharsMax: 150,
  /** Shortest interval of `everyMs`. The server allows no shorter one. */
  everyMsMin: SECOND_MS,
  /** Longest interval of `everyMs`. */
  everyMsMax: 366 * DAY_MS,
  /** Default of `catchUpMs`: a host that starts up to an hour late still runs the task. */
  catchUpMsDefault: HOUR_MS,
  /** Shortest `catchUpMs`: that of the server. */
  catchUpMsMin: 10 * SECOND_MS,
  /** Longest `catchUpMs`. On the embedded server, a start that is later than this needs its own signature. */
  catchUpMsMax: 30 * DAY_MS,
  /** Starts that the server keeps behind an active run. With `buffer-all`, `catchUpMs` may span at most this many starts. */
  startsBufferedMax: 1_000,
  /** Longest cron expression, in characters. */
  cronCharsMax: 200,
  /** Longest name of a time zone, in characters. */
  timeZoneCharsMax: 60,
  /** Largest input of a schedule, in bytes: the server keeps it in the history of the schedule, and writes it again with each change. */
  inputBytesMax: 256 * KIB,
  /** Longest note, in characters. */
  noteCharsMax: 300,
  /** Active periods that the grant of a schedule keeps, on the embedded server. */
  periodsMax: 100,
  /** Largest difference of the clocks of server and worker. A start further in the future is refused. */
  clockSkewMs: MINUTE_MS,
  /** Time limit of a request about a schedule. The server runs an internal workflow for it, which takes seconds on a busy machine. */
  requestTimeoutMs: 20 * SECOND_MS,
  /** Time to deliver the message of a schedule. */
  sendTimeoutMs: 30 * SECOND_MS,
} as const;
