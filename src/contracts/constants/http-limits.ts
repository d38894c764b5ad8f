/** Limits of the HTTP gateway. limits.ts exports them too. */

import { KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Limits of `perdure serve`. */
export const HTTP_LIMITS = {
  /** Default port. */
  portDefault: 8787,
  /** Body of a request in bytes: a message of 1 MiB fits, escaped as JSON. */
  bodyBytesMax: 2 * MIB,
  /** Body of an event of a chat platform in bytes. It is read before its signature is checked. */
  webhookBytesMax: MIB,
  /** Headers of a request in bytes. */
  headerBytesMax: 16 * KIB,
  /** Time for the headers of a request. A client that sends them more slowly is disconnected. */
  headersTimeoutMs: 10 * SECOND_MS,
  /** Time for a whole request. The answer may take longer. */
  requestTimeoutMs: 30 * SECOND_MS,
  /** How often both times are checked. */
  timeoutCheckMs: SECOND_MS,
  /** Connections at once. Each may follow a run. */
  connectionsMax: 10_000,
  /** Open streams of a token, without `gateway.streamsMax` of the config: a fifth of all connections. */
  streamsMaxDefault: 2_000,
  /** Levels of objects and arrays in a body. */
  bodyDepthMax: 200,
  /** Tokens of a file. Each request is compared with all of them. */
  tokensMax: 1_000,
  /** Time limit of `gateway.tokens` of the config for one answer. */
  tokenFunctionMs: 5 * SECOND_MS,
  /** Tokens that `gateway.tokens` may be asked for at the same time. Further ones get 503. */
  tokenCallsMax: 1_000,
  /** Requests of a token in a minute, without `gateway.requestsPerMinute` of the config. A burst may have the same number. */
  requestsPerMinuteDefault: 6_000,
  /** Highest `gateway.requestsPerMinute`. */
  requestsPerMinuteMax: 10_000_000,
  /** Time that a request waits for the first worker after the start. */
  startingMs: 10 * SECOND_MS,
  /** Runs in a list, if the client requests no number. */
  listedDefault: 50,
  /** Highest number of runs in a list. */
  listedMax: 200,
  /** Messages of one answer of `transcript`, in bytes. A larger message comes alone. */
  transcriptBytesMax: MIB,
  /** Events of a followed run or session that are kept for its clients, in bytes. A client that is further behind reads what is stored. */
  feedBytesMax: MIB,
  /** Messages of a followed run that are kept for the chats that show it, in bytes. Calls of older ones are shown without arguments and output. */
  followedMessagesBytesMax: 8 * MIB,
  /** Answers of a chat in a response, if the page requests no number. Each costs a query of its run. */
  chatRunsDefault: 20,
  /** Messages of a chat in a response, in bytes of their transcripts. Older ones are left out, and `truncated` reports it. */
  chatBytesMax: 4 * MIB,
  /** Messages of transcripts in a response with a chat. */
  chatMessagesMax: 2_000,
  /** Time for which a chat that resumes still gets the last answer, so that a client that lost its connection sees the end of it. */
  chatResumeMs: 10 * MINUTE_MS,
  /** Time in which a client must take what it was sent. A slower client is disconnected, and can resume. */
  stallMs: 30 * SECOND_MS,
  /** Time between two comments on a stream without events, so that proxies keep it open. */
  keepAliveMs: 15 * SECOND_MS,
  /** Time for which a run or session is still followed without a client. */
  lingerMs: 5 * SECOND_MS,
  /** Known owners of runs. */
  ownersMax: 10_000,
  /** Time for requests in progress to finish when the gateway ends. */
  drainMs: 10 * SECOND_MS,
  /** Time for which an answer of `/readyz` is cached. */
  readyCacheMs: SECOND_MS,
} as const;
