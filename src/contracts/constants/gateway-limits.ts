/** Limits of the doors that `perdure mcp` opens. limits.ts exports them too. */

import { MIB, SECOND_MS } from './units.js';

/** Limits of `perdure mcp`. */
export const GATEWAY_LIMITS = {
  /** How long `run_wait` waits without a time of its own: half of the official client's time limit for a request. */
  waitMsDefault: 30 * SECOND_MS,
  /** Longest time of `run_wait`. */
  waitMsMax: 3_600 * SECOND_MS,
  /** Runs that `runs_list` lists, if the client requests no number. */
  listedDefault: 20,
  /** Largest such number. */
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
  /** Time for the answers in work when the server ends. */
  drainMs: 10 * SECOND_MS,
  /** Port of HTTP without one of its own. */
  mcpPort: 8788,
} as const;
