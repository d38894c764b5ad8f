/** Limits of the doors that `perdure mcp` opens. limits.ts exports them too. */

import { MIB, SECOND_MS } from './units.js';

/** Limits of `perdure mcp` and `perdure acp`. */
export const GATEWAY_LIMITS = {
  /** Default wait of `run_wait`: half of the official client's time limit for a request. */
  waitMsDefault: 30 * SECOND_MS,
  /** Longest time of `run_wait`. */
  waitMsMax: 3_600 * SECOND_MS,
  /** Runs that `runs_list` lists, if the client requests no number. */
  listedDefault: 20,
  /** Highest number of runs that `runs_list` lists. */
  listedMax: 200,
  /** A request in bytes, over stdio and over HTTP: a message of 1 MiB fits, escaped as JSON. */
  requestBytesMax: 4 * MIB,
  /** Time for the headers of an HTTP request. A client that sends them more slowly is disconnected. */
  headersTimeoutMs: 10 * SECOND_MS,
  /** Time for a whole HTTP request. The answer may take longer. */
  requestTimeoutMs: 30 * SECOND_MS,
  /** How often both times are checked. */
  timeoutCheckMs: SECOND_MS,
  /** Connections at once. Each may wait for a run. */
  connectionsMax: 1_000,
  /** Time for requests in progress to finish when the server ends. */
  drainMs: 10 * SECOND_MS,
  /** Time for requests in progress to finish when a client over stdin has ended its input. */
  inputEndedMs: 60 * SECOND_MS,
  /** Default port of HTTP. */
  mcpPort: 8788,
  /** Time between a cancel of an editor and its answer, at most. A run that needs longer ends without the editor. */
  cancelMsMax: 10 * SECOND_MS,
  /** Sessions that one editor can open. */
  editorSessionsMax: 1_000,
} as const;
