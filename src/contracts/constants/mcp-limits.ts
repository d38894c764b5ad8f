/** Limits of MCP servers that runs use. limits.ts exports them too. */

import { KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Limits of MCP servers. A server is a third-party program: each limit bounds what it can cost. */
export const MCP_LIMITS = {
  /** No `_`: it separates the server from its tool. Short, because providers allow 64 characters for both. */
  serverNamePattern: /^[A-Za-z][A-Za-z0-9-]{0,23}$/u,
  /** Time limit of a start with its list of tools. `npx` may first install the server. */
  connectTimeoutMs: 60 * SECOND_MS,
  /** Time limit of the SDK for a request. The call's own limit is shorter. */
  requestTimeoutMsMax: 2 * 60 * 60 * SECOND_MS,
  /** Tools of one server. Models choose badly among more. */
  toolsMax: 128,
  /** Changed lists that a run accepts. Each one invalidates the provider's prompt cache. */
  listChangesMax: 20,
  /** Names of tools that an event about a changed list holds, of each kind. */
  namesShownMax: 20,
  /** Notices about one server in a run. */
  noticesMax: 20,
  /** Characters of one notice. */
  noticeCharsMax: 500,
  /** Unread messages, in bytes, after which a process is ended. */
  unreadBytesMax: 32 * MIB,
  /** Pages of its lists. */
  pagesMax: 20,
  /** Characters of the description of a tool: it is sent with each request. */
  descriptionCharsMax: 4_000,
  /** Schema of a tool in bytes. */
  schemaBytesMax: 64 * KIB,
  /** Longest line of a process: an image of 20 MB as base64 fits. */
  lineBytesMax: 32 * MIB,
  /** Image of a result in bytes. A larger one is left out, because no message can carry it. */
  imageBytesMax: 700 * KIB,
  /** Part of the text of an HTTP error that is read. */
  errorTextBytesMax: 4 * KIB,
  /** End of the error output of a process that is shown. */
  errorTailBytes: 2 * KIB,
  /** First wait before a server that failed is started again; doubled with each failure. */
  backoffMs: 500,
  /** Longest such wait. */
  backoffMsMax: 30 * SECOND_MS,
  /** After this time without a call, a server is ended. The next call starts it again. */
  idleMs: 5 * 60 * SECOND_MS,
  /** Time for the answer to a ping, after a call that timed out. A server that does not answer is ended. */
  pingTimeoutMs: 2 * SECOND_MS,
  /** Entries of a list of resources or prompts that the model sees. */
  entriesShownMax: 200,
} as const;

/** Limits of the questions of MCP servers. A server is a program of others: each limit bounds what a person must read. */
export const ELICITATION_LIMITS = {
  /** Questions of one call. More are refused. */
  perCallMax: 5,
  /** Fields of one question. */
  fieldsMax: 20,
  /** Characters of the message of a question. A longer one is cut. */
  messageCharsMax: 2_000,
  /** Characters of the title and of the description of a field. Longer ones are cut. */
  aboutCharsMax: 150,
  /** Names of fields. A person writes them in an answer. */
  namePattern: /^[\w.-]{1,40}$/u,
  /** Characters of the name of who asks. */
  askerCharsMax: 60,
  /** Characters of the id of a question. */
  idCharsMax: 250,
  /** First pause between two looks for an answer; doubled each time. */
  pollMsMin: 250,
  /** Longest such pause. */
  pollMsMax: 5 * SECOND_MS,
  /** Time limit of the SDK for the request of a call that asks: the longest that a timer takes. The call's own limit is shorter. */
  requestTimeoutMsMax: 24 * 24 * 60 * 60 * SECOND_MS,
  /** After this time without a call, the connection of a run is ended. */
  idleMs: 60 * SECOND_MS,
} as const;

/** Limits of the completions that MCP servers request. A server is a program of others: each limit bounds what it can spend. */
export const SAMPLING_LIMITS = {
  /** Completions of one call without `maxRequests`. More are refused. */
  requestsDefault: 5,
  /** Highest `maxRequests`. */
  requestsMax: 20,
  /** Completions of one run. More are refused. */
  requestsPerRunMax: 100,
  /** Output tokens of one completion without `maxTokens`. A server that asks for more gets this limit. */
  tokensDefault: 2_048,
  /** Highest `maxTokens`. */
  tokensMax: 8_192,
  /** Messages of one request. */
  messagesMax: 50,
  /** One request as JSON, images included. The history contains it twice. */
  requestCharsMax: 256 * KIB,
  /** Characters of its id. */
  idCharsMax: 250,
  /** Stop sequences of one request. */
  stopSequencesMax: 8,
  /** Characters of a stop sequence. */
  stopCharsMax: 100,
  /** Highest temperature. */
  temperatureMax: 2,
  /** Text of a completion in bytes. The rest is cut. */
  answerBytesMax: 128 * KIB,
  /** Time limit of one completion, failover included. */
  timeoutMs: 5 * MINUTE_MS,
  /** First pause between two looks for the answer; doubled each time. */
  pollMsMin: 100,
  /** Longest such pause. */
  pollMsMax: SECOND_MS,
} as const;
