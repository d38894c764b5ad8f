/** Limits of workers, of lost calls and of what leaves a worker. limits.ts exports them too. */
const MIB = 1024 * 1024;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Calls whose worker was lost. */
export const LOSS_LIMITS = {
  /** Fraction of the heartbeat timeout after which a worker without an acknowledged heartbeat stops a call. The rest is for stopping it. */
  fenceFraction: 0.8,
  /** Heartbeats in a heartbeat timeout, at least. A short timeout gets them more often than every 2 s. */
  heartbeatsPerTimeoutMin: 5,
  /** Time limit of one heartbeat. A lost connection must not hold up the next heartbeat. */
  heartbeatRequestMsMax: 5 * SECOND_MS,
  /** Time limit of `assertOwned`. A tool should not wait longer for a server that does not answer. */
  assertOwnedMsMax: 2 * SECOND_MS,
  /** Longest wait for the host of a lost call. After an outage, a worker polls again within 12 s. */
  recallWaitMs: 20 * SECOND_MS,
  /** Longest wait for the host of a dead worker. The host is reachable, and its next worker starts within seconds. */
  recallWaitAfterDeathMs: 5 * SECOND_MS,
  /** Time limit of the activity `recallResult`, which reads one file. */
  recallTimeoutMs: 10 * SECOND_MS,
  /** Longest wait for the end of an earlier attempt that may still run. After it, the outcome of the call is unknown. */
  earlierAttemptMsMax: 10 * MINUTE_MS,
  /** First pause before the host is asked again; doubled each time. */
  askAgainMsMin: 2 * SECOND_MS,
  /** Longest pause before the host is asked again. */
  askAgainMsMax: MINUTE_MS,
  /** Time after which a result that may not have reached the server is written to disk. Most are no longer needed by then. */
  persistAfterMs: SECOND_MS,
  /** Finished results that a worker keeps. */
  resultsKeptMax: 1_000,
  /** Size of the results in memory. */
  resultsMemoryBytesMax: 16 * MIB,
  /** Size of the results on disk. */
  resultsDiskBytesMax: 64 * MIB,
  /** Age at which a kept result is removed. A longer outage ends the calls as unknown. */
  resultsKeptMs: DAY_MS,
} as const;
