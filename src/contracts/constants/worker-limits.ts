/** Limits of worker processes: lost calls, hosting, and token streams. limits.ts exports them too. */

import { DAY_MS, GIB, KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

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
  /** Longest pause before the host is asked again. A run continues at most this long after its suspended worker resumes. */
  askAgainMsMax: 15 * SECOND_MS,
  /** Time after which a result that may not have reached the server is written to disk and reported again. Most are no longer needed by then. */
  persistAfterMs: SECOND_MS,
  /** Longest pause before a result is reported again. */
  reportAgainMsMax: 10 * SECOND_MS,
  /** Finished results that a worker keeps. */
  resultsKeptMax: 1_000,
  /** Size of the results in memory. */
  resultsMemoryBytesMax: 16 * MIB,
  /** Size of the results on disk. */
  resultsDiskBytesMax: 64 * MIB,
  /** Age at which a kept result is removed. A longer outage ends the calls as unknown. */
  resultsKeptMs: DAY_MS,
} as const;

/** Hosting of workers: heartbeat timeouts, and the supervisor of `perdure worker`. */
export const HOSTING_LIMITS = {
  /**
   * Heartbeat timeout under a supervisor. The supervisor reports a dead process, so the timeout only has to detect lost hosts and networks.
   * A shorter outage of the server loses no call.
   */
  supervisedHeartbeatTimeoutMs: MINUTE_MS,
  /** Heartbeat timeout on the embedded server. A death is proved by the pid, so a suspended machine loses no call. */
  embeddedHeartbeatTimeoutMs: 5 * MINUTE_MS,
  /** Shortest heartbeat timeout: five heartbeats, so that a late one loses no call. */
  heartbeatTimeoutMsMin: 10 * SECOND_MS,
  /** Longest heartbeat timeout. A run would wait longer for a lost host. */
  heartbeatTimeoutMsMax: 60 * MINUTE_MS,
  /** Pause before the first restart of a worker. It doubles with each restart. */
  restartMsMin: 200,
  /** Longest pause before a restart. */
  restartMsMax: 10 * SECOND_MS,
  /** Time at work after which the pauses start anew. A worker that crashes at its start does not reach it. */
  healthyMs: MINUTE_MS,
  /** Time for which a run is remembered after its last call on the worker, because the server may not have the result yet. */
  recentRunMs: MINUTE_MS,
  /** Runs that are remembered for this reason. */
  recentRunsMax: 1_000,
  /** Open runs that a starting worker of an external server checks for calls of dead processes. Each one is a request. */
  checkedRunsMax: 1_000,
  /** Time for which a report of dead calls is repeated while the server does not answer. Then its calls are left to their heartbeat timeout. */
  reportMs: 5 * MINUTE_MS,
  /** Time after a stop at which a worker that does not exit is killed: the forced shutdown and ten seconds. */
  stopMs: 70 * SECOND_MS,
  /** Time after its last message at which a worker that does not exit is killed. */
  exitMs: 10 * SECOND_MS,
  /** Time for reporting the calls of a worker that died during a stop. */
  lastReportMs: 5 * SECOND_MS,
  /**
   * A worker counts as alive if its last poll is not older than this. It polls at least every minute; the server lists a dead one for 5
   * minutes.
   */
  pollerAgeMs: 75 * SECOND_MS,
  /** Newest open runs whose large payloads a worker looks for at its start. */
  missingPayloadRuns: 20,
  /** Time after which a worker checks a second time that all workers of its queue have the same store: others may have started with it. */
  storeRecheckMs: 5 * SECOND_MS,
} as const;

/** The embedded Temporal server. */
export const DEV_SERVER_LIMITS = {
  /** Difference between the port of the Web UI and the one that `--port` names, as in the Temporal CLI: 7233 and 8233. */
  uiPortOffset: 1_000,
  /** Highest port that `--port` can name: that of the Web UI is above it. */
  portMax: 64_535,
} as const;

/** A command that hosts a worker: its end, and what calls write to its standard streams. */
export const HOST_PROCESS_LIMITS = {
  /** Time for running calls when a command ends on its own. Longer than any tool's limit, so that calls end in their own time. */
  ownEndGraceMs: 24 * 60 * MINUTE_MS,
  /** Time between two checks of former workers of the folder, which finish their calls and may die meanwhile. */
  formerWorkersEveryMs: SECOND_MS,
  /** What a call may write with `console`, in characters. It goes to the worker's log, which must not fill the disk. */
  consoleCharsMax: MIB,
  /** Longest line in the log. A longer one is split. */
  consoleLineCharsMax: 8 * KIB,
} as const;

/** Token streams. */
export const STREAM_LIMITS = {
  /** Time over which tokens are collected before they are written. */
  coalesceMs: 60,
  /** Buffer of a stream. Tokens above it are dropped, so that a slow store does not fill the memory of the worker. */
  bufferedBytesMax: 4 * MIB,
  /** Buffer of all streams of a worker. */
  sinkBytesMax: 64 * MIB,
  /** Text of one event, in characters, after which a new event begins. Readers handle an event at a time. */
  eventCharsMax: 64 * KIB,
  /** Bytes that a watcher reads at a time. */
  readBytes: 64 * KIB,
  /** Streams that a worker keeps open. Many systems allow a process 1,024 files. */
  openFilesMax: 100,
  /** Time without a write after which a stream is closed. Most tools end sooner, and the next answer follows. */
  idleFileMs: 10 * SECOND_MS,
} as const;

/** Token streams in Redis. */
export const REDIS_STREAM_LIMITS = {
  /** Time after its last token at which a stream is deleted. */
  ttlMsDefault: DAY_MS,
  /** Shortest `ttlMs`. A watcher that lost its connection must still find the stream. */
  ttlMsMin: MINUTE_MS,
  /** Longest `ttlMs`. */
  ttlMsMax: 30 * DAY_MS,
  /** Entries of a stream, about. An entry holds the text of `STREAM_LIMITS.coalesceMs`, so this is ten minutes of text without a pause. */
  entriesMaxDefault: 10_000,
  /** Lowest `entriesMax`. Redis trims whole blocks, of 100 entries by default. */
  entriesMaxMin: 100,
  /** Highest `entriesMax`. */
  entriesMaxMax: 1_000_000,
  /** Longest `keyPrefix` in characters. */
  keyPrefixCharsMax: 200,
  /** Time for a connection, and for the answer to a command. Then the connection is given up, and another one is opened. */
  timeoutMs: 3 * SECOND_MS,
  /** Wait before the second attempt to connect; doubled each time. */
  reconnectMsMin: 200,
  /** Longest wait before an attempt to connect. */
  reconnectMsMax: 5 * SECOND_MS,
  /** Shortest time between two reports of lost connections. */
  reportEveryMs: MINUTE_MS,
  /** Time that the end of a model call waits for its last tokens. It waits only while Redis answers. */
  flushMsMax: 500,
  /** Commands that are sent together. */
  commandsMax: 1_000,
  /** Time that one read waits for new entries. A watcher that begins waits for the end of the current read. */
  blockMs: 100,
  /** Entries of one stream in one read. */
  readEntriesMax: 500,
  /** Entries that wait for a slow watcher. Above it, its stream is not read. */
  readAheadMax: 1_000,
  /** Time for the last read of a watcher that stops. */
  lastReadMs: SECOND_MS,
} as const;

/** Limits of the sandbox of commands. */
export const SANDBOX_LIMITS = {
  /** Hosts that commands may reach. */
  hostsMax: 200,
  /** Longest name of a host, with its port: 253 characters (RFC 1035) and `*.`, `:65535`. */
  hostCharsMax: 261,
  /** Longest name of an image, with its registry and digest. */
  imageCharsMax: 500,
  /** Folders beside the workspace that commands can change. Each costs a mount per command. */
  writableMax: 32,
  /** Processes and threads of one command. A parallel build of a large project has some hundreds. */
  processes: 1_024,
  /** Memory of one command with all its processes, and its `/tmp`. */
  memoryBytes: 4 * GIB,
  /** CPU time of one process of a command. */
  cpuMs: 3_600 * SECOND_MS,
  /** Size of one file that a command writes. */
  fileBytes: 4 * GIB,
  /** Files that one process of a command has open. */
  openFiles: 4_096,
  /** Time from the warning signal of CPU time to the end of the process. */
  cpuGraceMs: 5 * SECOND_MS,
  /** Control groups of workers that died are removed after this time. */
  groupAgeMs: 86_400 * SECOND_MS,
  /** Time to try a sandbox when the first command starts. */
  probeTimeoutMs: 10 * SECOND_MS,
  /** Time to start a container when it is tried, and to remove what a command left. */
  removeTimeoutMs: 30 * SECOND_MS,
  /** Time until a connection through the proxy stands, and until a server begins to answer. */
  connectTimeoutMs: 30 * SECOND_MS,
} as const;

/** Runs and money of a tenant. */
export const TENANT_LIMITS = {
  /** Highest `maxRuns`, and the runs at once of a tenant that has only a limit of money: its ledger remembers each of them. */
  runsMax: 1_000,
  /** Runs in the queue of a tenant. Further ones ask again later, without a position. */
  waitersMax: 2_000,
  /** Part of `maxCostUsdPerDay` that a run may spend before it asks again. */
  leaseFraction: 0.02,
  /** A day. Days begin at midnight UTC. */
  dayMs: DAY_MS,
  /** Time between two checks of the runs at work, while others wait: runs that were terminated report no end. */
  checkEveryMs: 30 * SECOND_MS,
  /** Runs of one check. Each is a request. */
  checkedRunsMax: 50,
  /** Time limit of one check. */
  checkTimeoutMs: 30 * SECOND_MS,
  /** Time limit of one request to the ledger. It is repeated until it succeeds. */
  askTimeoutMs: 10 * SECOND_MS,
  /** Longest wait before a request is repeated. */
  askBackoffMsMax: 30 * SECOND_MS,
  /** Time after which a waiting run asks again: its ledger may have been terminated. */
  askAgainMs: 10 * MINUTE_MS,
} as const;

/** Model calls of a provider, over all workers of a queue. */
export const PROVIDER_LIMITS = {
  /** Highest `callsAtOnce`. */
  callsAtOnceMax: 10_000,
  /** Highest `callsPerMinute`. */
  callsPerMinuteMax: 1_000_000,
  /** Longest wait of a call for its place. Then the next model of the run is called. */
  waitMsMax: 30 * MINUTE_MS,
  /** Time without a place after which the heartbeat says what a call waits for. */
  noticeMs: 500,
  /** Time after the last message of a worker at which the places of its calls become free. */
  leaseMs: 30 * SECOND_MS,
  /** Messages that a worker sends within `leaseMs`, so that a late one loses no place. */
  messagesPerLease: 3,
  /** Time over which `callsPerMinute` counts. */
  windowMs: MINUTE_MS,
  /** Time for which the ledger holds a message of a worker that waits. */
  holdMs: 10 * SECOND_MS,
  /** Messages that the ledger holds. The server takes 10 updates of a workflow at once. */
  heldRequestsMax: 6,
  /** If the ledger does not hold a worker's message, the worker asks again after this time. */
  askAgainMs: SECOND_MS,
  /** Time limit of one message: `holdMs`, and a slow server. */
  requestMsMax: 25 * SECOND_MS,
  /** Wait before a message that failed is sent again; doubled each time. */
  retryMsMin: 250,
  /** Longest wait before it is sent again. */
  retryMsMax: 5 * SECOND_MS,
} as const;

/** The workflows that keep limits: of tenants, and of providers. */
export const LEDGER_LIMITS = {
  /** Time without work after which a ledger ends. */
  idleMs: MINUTE_MS,
  /** Events after which a ledger continues as new. Each of its tasks replays quickly then. */
  historyEventsMax: 2_000,
  /** Updates after which a ledger continues as new. The server refuses more than 2,000. */
  updatesMax: 1_000,
} as const;

/** The disks of a worker. With less free space, calls wait before they start. */
export const DISK_LIMITS = {
  /** Free space of the state folder and of artifacts: room for the results of some hundred calls, and for the server's database. */
  freeBytesMin: 16 * MIB,
  /** On a disk smaller than 100 times `freeBytesMin`, this share must be free instead. */
  freeShareMin: 0.01,
  /** Time until a full disk is checked again. It is doubled after each check. */
  checkMsMin: SECOND_MS,
  /** Longest time between two checks of a full disk. */
  checkMsMax: 30 * SECOND_MS,
  /** Time of one check. */
  checkTimeoutMs: 10 * SECOND_MS,
  /** Free space that no disk loses within `ampleForMs`. */
  ampleBytesMin: 4 * GIB,
  /** Free files that no disk loses within `ampleForMs`. */
  ampleFilesMin: 100_000,
  /** Time for which a check that found ample room is valid. */
  ampleForMs: SECOND_MS,
} as const;

/** Signatures of starts, approvals and extensions at the embedded server. */
export const AUTH_LIMITS = {
  /** Longest signature, in characters. */
  signatureCharsMax: 200,
  /** Time between a signature and the request that carries it. `perdure sign` and another program need some seconds. */
  validMs: 5 * MINUTE_MS,
  /** Time to check a signature. */
  checkTimeoutMs: 10 * SECOND_MS,
  /** A signature is valid once, and is remembered for this long: a start may be made long before a worker prepares it. */
  rememberedMs: 30 * DAY_MS,
} as const;
