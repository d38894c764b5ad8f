/** Sizes of what comes into a run: its input, messages, payloads. limits.ts exports them too. */

import { DAY_MS, KIB, MIB, SECOND_MS } from './units.js';

/**
 * Sizes of the texts in a run's input. Some texts are also a search attribute or in the workflow memo. Above the limits of the server, 2 KB
 * and 2 MB, such a text would end the run.
 */
export const INPUT_LIMITS = {
  /** Longest name, in characters: agent, model, session, tenant. A search attribute holds it in any script. */
  nameCharsMax: 200,
  /** Longest id of a run that another one continues, in characters: that of a workflow. */
  workflowIdCharsMax: 1_000,
  /** Longest name of a host, in characters: that of the domain name system. */
  hostCharsMax: 253,
  /** Longest path, in characters. No system supports longer ones. */
  pathCharsMax: 4_096,
  /** Longest component, in characters. */
  componentCharsMax: 1_000,
  /** Longest selected text, in characters. */
  selectionCharsMax: 16 * KIB,
  /** Longest text of a caller for its sub-agent, in characters. */
  subAgentContextCharsMax: 64 * KIB,
  /** Largest `context.variables`, in characters of JSON. They are part of the prompt and of the memo. */
  variablesCharsMax: 64 * KIB,
} as const;

/** Limits of messages to a running agent. */
export const STEER_LIMITS = {
  /** Lowest `ttlMs` of a message. */
  ttlMsMin: SECOND_MS,
  /** Highest `ttlMs` of a message. */
  ttlMsMax: 30 * DAY_MS,
  /** Delivery records in the result. */
  resultRecordsMax: 200,
  /** Size of the delivery records in the result. */
  resultBytesMax: 12 * KIB,
  /** Size of the reason of a refused message, which may quote the message. */
  refusalBytesMax: 500,
  /** Commands `/model` and `/think` at the beginning of a message that a run applies. The rest is text. */
  directivesMax: 8,
  /** Commands that the parser reads from a message, because runs of older versions apply this many. */
  directivesReadMax: 1_000,
  /** Unread messages of a run. More are refused with `INBOX_FULL`: a burst of 10,000 would stall the worker. */
  unreadMax: 2_000,
  /** Characters of all unread messages of a run. One turn may deliver them all, and hashes them in one workflow task. */
  unreadCharsMax: 4 * MIB,
  /** Refusals in a row that are events. The others are only recorded. */
  refusalEventsMax: 20,
  /** Records of refused messages that a run keeps, within those of all messages. */
  refusedKeptMax: 200,
} as const;

/** Sizes of data that Temporal transports. */
export const PAYLOAD_LIMITS = {
  /**
   * The payloads of one command or message above this are compressed, and stored outside the history when they stay larger. The server
   * refuses 2 MiB.
   */
  inlineBytesMax: 1.5 * MIB,
  /**
   * Size above which the SDK's external storage takes a payload, in applications without the codec of large payloads. It is
   * `inlineBytesMax` plus metadata.
   */
  externalBytesMin: 1.5 * MIB + 4 * KIB,
  /** Largest payload that is opened. A carried transcript of `transcriptBytesMax` fits in any encoding; a forged one cannot fill the memory. */
  openedBytesMax: 128 * MIB,
  /** Largest result of a query or workflow. */
  outsideBytesMax: 192 * KIB,
  /** Largest message. */
  messageBytesMax: MIB,
  /** Largest message of a failure. */
  failureMessageBytesMax: 4 * KIB,
  /** Largest `details[0]` of a failed run. It is the whole RunResult, with its output cut. */
  failureDetailsBytesMax: 64 * KIB,
  /** Smallest part of a message that is larger than a page. A smaller message is never divided, whatever page size a client asks for. */
  partBytesMin: 32 * KIB,
  /** Default page size of query `transcript`. */
  pageBytesDefault: 128 * KIB,
  /** New messages that the input of a model call contains. More are fetched by query. */
  tailBytesMax: 64 * KIB,
  /** Events that a run keeps. */
  eventsMax: 1_000,
  /** Size of the events that a run keeps. */
  eventsBytesMax: 256 * KIB,
  /** Steps that a run keeps. */
  stepsMax: 500,
  /** Longest summary of an activity or timer in the Web UI, in characters. */
  summaryCharsMax: 120,
  /** Largest *User Metadata* of a run in the Web UI. */
  currentDetailsBytesMax: 4 * KIB,
  /** Larger transcripts are compacted before the run continues as new. */
  transcriptBytesMax: 32 * MIB,
} as const;
