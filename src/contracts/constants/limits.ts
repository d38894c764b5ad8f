/** Limits of the contract. The unit is the last word of the name; docs/reference/limits.md is generated from the comments. */
import { ARTIFACT_LIMITS } from './guard-limits.js';

export { BACKGROUND_LIMITS } from './background-limits.js';
export { CHANNEL_LIMITS } from './channel-limits.js';
export { INPUT_LIMITS, PAYLOAD_LIMITS, STEER_LIMITS } from './data-limits.js';
export { GATEWAY_LIMITS } from './gateway-limits.js';
export {
  ARTIFACT_LIMITS,
  COMPACTION_LIMITS,
  CONTENT_LIMITS,
  DECISION_LIMITS,
  EXECUTOR_LIMITS,
  FAILOVER_LIMITS,
  HANDOFF_LIMITS,
  HOOK_LIMITS,
  LOOP_LIMITS,
  MEMO_LIMITS,
  OUTPUT_SCHEMA_LIMITS,
  READING_LIMITS,
  SUBAGENT_LIMITS,
  WORK_LIMITS,
} from './guard-limits.js';
export { HTTP_LIMITS } from './http-limits.js';
export { ELICITATION_LIMITS, MCP_LIMITS, SAMPLING_LIMITS } from './mcp-limits.js';
export { CONFIG_LIMITS, MEMORY_LIMITS, PROMPT_LIMITS, SKILL_LIMITS } from './prompt-limits.js';
export { SCHEDULE_LIMITS, SESSION_LIMITS } from './session-limits.js';
export { FETCH_LIMITS, PATCH_LIMITS, QUESTION_LIMITS, SLEEP_LIMITS } from './tool-limits.js';
export {
  AUTH_LIMITS,
  DEV_SERVER_LIMITS,
  DISK_LIMITS,
  HOST_PROCESS_LIMITS,
  HOSTING_LIMITS,
  LEDGER_LIMITS,
  LOSS_LIMITS,
  PROVIDER_LIMITS,
  REDIS_STREAM_LIMITS,
  SANDBOX_LIMITS,
  STREAM_LIMITS,
  TENANT_LIMITS,
} from './worker-limits.js';

import { DAY_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Limits of one run: turns, time, recoveries. */
export const RUN_LIMITS = {
  /** Turn limit of a run without one. A task that needs more turns should set it. */
  maxTurnsDefault: 20,
  /** Lowest turn limit. */
  maxTurnsMin: 1,
  /** Highest turn limit. */
  maxTurnsMax: 10_000,
  /** Levels of objects and arrays in a run's input. Real ones have fewer than 50; thousands overflow the stack of a JSON writer. */
  inputDepthMax: 200,
  /** Turns left when the request carries the warning, the current one included. */
  finaliseAtRemainingTurns: 3,
  /** Longest warning time before a deadline. */
  deadlineGraceMsMax: MINUTE_MS,
  /** Warning time before a deadline as a fraction of it, up to `deadlineGraceMsMax`. */
  deadlineGraceFraction: 0.2,
  /** Shortest deadline. */
  deadlineMsMin: SECOND_MS,
  /** Longest deadline. */
  deadlineMsMax: 30 * DAY_MS,
  /** Time limit of the reserved final call, so that it does not delay a finished run. */
  finalCallTimeoutMs: MINUTE_MS,
  /** Attempts to prepare a run. An attempt on a host without the workspace does not count. */
  prepareAttemptsMax: 10,
  /** Attempts to find the host of a workspace, on random hosts of a shared queue. With 20 hosts, this misses the right one once in 800 million runs. */
  prepareHostsAskedMax: 400,
  /** Wait between two of these attempts. All attempts together take about two minutes. */
  prepareHostsBackoffMs: 250,
  /**
   * Lost workers after which a call is started again. One more fails the call, so that a call that crashes its workers does not repeat
   * forever.
   */
  workerLossesMax: 20,
  /** Fresh transcript references for one model call. */
  transcriptMovedMax: 3,
  /** Corrections in a row after an empty answer. A valid answer resets all counters of corrections. */
  emptyAnswersMax: 1,
  /** Corrections in a row after a provider refused the JSON of a request. */
  badJsonMax: 3,
  /** Repeated requests in a row after an empty stream, when no other model is available. */
  emptyStreamsMax: 3,
  /** Wait before the first repeated request after an empty stream; doubled each time. */
  emptyStreamBackoffMs: 500,
  /** Corrections in a row after thinking above `thinkingTokensMax`. */
  thinkingMax: 2,
  /** Context overflows in a row: compaction, then shortening the largest result, then the end. */
  overflowsMax: 3,
  /** Corrections in a row by a completion gate or an output schema. */
  gateAttemptsMax: 3,
  /** Corrections in a row of an answer without calls for its quality. */
  qualityCorrectionsMax: 2,
  /** Corrections in a row of an answer that was cut within a tool call; then the run ends with `max_tokens`. */
  truncatedAnswersMax: 2,
  /** Answers with `pause_turn` in a row that are sent back unchanged. */
  pausedAnswersMax: 10,
  /** Longest wait for an unreachable model before the run fails. */
  modelUnreachableMsMax: 5 * MINUTE_MS,
  /** Shortest wait between two requests to an unreachable model. */
  modelUnreachableBackoffMsMin: SECOND_MS,
  /** Longest wait between two requests to an unreachable model. */
  modelUnreachableBackoffMsMax: 30 * SECOND_MS,
  /** Calls of one answer that run. Each may add a dozen events and an output to a history that holds 51,200 events and 50 MB. */
  callsPerAnswerMax: 128,
  /** `read` calls of one answer that run in parallel. */
  readToolsParallelMax: 4,
} as const;

/** Limits of one model call. */
export const MODEL_LIMITS = {
  /** Attempts of a call. A lost worker is not an attempt. */
  attemptsMax: 3,
  /** Wait before the second attempt. */
  backoffMs: SECOND_MS,
  /** Factor of the wait before each further attempt. */
  backoffCoefficient: 2,
  /** Shortest wait for a Retry-After. */
  retryAfterMsMin: 500,
  /** Longest wait for a Retry-After. A longer one makes the call fail at once. */
  retryAfterMsMax: MINUTE_MS,
  /** Time limit of an attempt. */
  turnTimeoutMs: 5 * MINUTE_MS,
  /** Time between this limit and Temporal's startToClose timeout, so that Perdure reports the error itself. */
  turnTimeoutMarginMs: 5 * SECOND_MS,
  /** Longest time without a byte. */
  streamIdleMs: 90 * SECOND_MS,
  /** Output limit of a request. Anthropic requires one, and every current model supports this. */
  outputTokensDefault: 8_192,
  /** Smallest output limit. A budget that does not cover it counts as spent, because a smaller answer would be cut. */
  outputTokensMin: 256,
  /** Largest answer. A larger one is an error, because it would not fit the history. */
  answerBytesMax: MIB,
  /** Context window of a model whose window is unknown, in tokens. */
  contextWindowDefault: 128_000,
  /** Smallest context window in tokens. A smaller one cannot hold prompt, tools and an answer. */
  contextWindowMin: 1_000,
} as const;

/** Thinking of models that count it in tokens. */
export const THINKING_LIMITS = {
  /** Smallest budget. Anthropic refuses a smaller one. */
  budgetTokensMin: 1_024,
  /** Tokens of each level. With `high` a full answer still fits the 32,000 output tokens that such models have at least. */
  budgetTokens: { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384 },
} as const;

/** Limits of one tool call. */
export const TOOL_LIMITS = {
  /** Time limit of a tool without one. */
  timeoutMsDefault: 45 * SECOND_MS,
  /** Shortest time limit. */
  timeoutMsMin: SECOND_MS,
  /** Longest time limit. */
  timeoutMsMax: 60 * MINUTE_MS,
  /** Time between this limit and Temporal's startToClose timeout, so that Perdure reports the timeout itself. */
  timeoutMarginMs: 10 * SECOND_MS,
  /** Longest time limit of a `read` tool that `localReadTools` runs in the workflow task. A message or a cancel waits for such a call. */
  localTimeoutMsMax: 10 * SECOND_MS,
  /** Attempts of a `read` or `idempotent` call. */
  attemptsMax: 3,
  /** Wait before the second attempt. */
  backoffMs: SECOND_MS,
  /** Time between SIGTERM and SIGKILL for a command. */
  killGraceMs: 2 * SECOND_MS,
  /** Time after which a tool that ignores its signal is abandoned. */
  abandonAfterMs: 4 * SECOND_MS,
  /** Largest output that the model sees whole. */
  outputBytesMax: 50 * KIB,
  /** Longest output that the model sees whole, in lines. */
  outputLinesMax: 2_000,
  /** Highest value of `output.bytesMax`. One message stays below the size of a query result. */
  outputBytesCeiling: 160 * KIB,
  /** Fraction of the model's window that one result may use. */
  outputWindowFraction: 0.25,
  /** Characters of a result that the model always sees, however small its window is. */
  outputCharsMin: 2_000,
  /** Largest log line about an error that a tool threw: its stack and those of its causes, but not megabytes of a message. */
  loggedErrorBytesMax: 16 * KIB,
  /** Errors of a chain of causes that are logged. A longer chain counts as a cycle. */
  loggedCausesMax: 8,
  /** Time limit of `reconcile`. */
  reconcileTimeoutMs: 30 * SECOND_MS,
  /** Valid names of tools. */
  namePattern: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
  /** Largest schema of a tool's arguments. It is sent with every request. */
  schemaBytesMax: 64 * KIB,
} as const;

/** Limits of the built-in workspace tools. */
export const WORKSPACE_LIMITS = {
  /** Longest time limit of a command. Longer work belongs in a tool of its own. */
  commandTimeoutMsMax: 10 * MINUTE_MS,
  /** Longest command in characters. It fits an argument of 128 KiB, the limit of Linux, in any encoding. */
  commandCharsMax: 30_000,
  /** Largest output of a command, which is the largest artifact. A command with more is stopped. */
  commandOutputBytesMax: ARTIFACT_LIMITS.bytesMax,
  /** Largest file that is edited or searched. Reading has no limit. */
  fileBytesMax: 10 * MIB,
  /** Entries of a folder tree that are listed. The result reports when there are more. */
  walkEntriesMax: 50_000,
  /** Matches of one search. */
  searchMatchesMax: 500,
  /** Bytes that one search reads. */
  searchBytesMax: 256 * MIB,
  /** Time limit of a search pattern for one file, against catastrophic patterns. */
  searchFileMsMax: 5 * SECOND_MS,
  /** Longest search pattern in characters. */
  searchPatternCharsMax: 1_000,
  /** Characters of a line that are searched. Minified files have lines of megabytes. */
  searchLineCharsMax: 10_000,
  /** Characters of a matching line that are shown. */
  searchLineShownCharsMax: 300,
  /** Longest glob in characters. */
  globCharsMax: 500,
  /** Longest path in characters. No system supports longer ones. */
  pathCharsMax: 4_096,
  /** Size at which an instruction file such as AGENTS.md is cut. It is sent with every request. */
  instructionFileBytesMax: 20_000,
  /** Age at which a temporary file of a killed process is removed, at the next write to its folder. */
  staleWriteMs: 10 * MINUTE_MS,
} as const;

/** Heartbeats and timers of a worker. */
export const WORKER_LIMITS = {
  /** Time without a heartbeat after which a worker is lost, where nothing reports a dead process. HOSTING_LIMITS has the others. */
  heartbeatTimeoutMs: 30 * SECOND_MS,
  /** Time between heartbeats. */
  heartbeatEveryMs: 2 * SECOND_MS,
  /** Time of the first heartbeat of a `read` call. A shorter call sends none: each is a request to the server. */
  firstHeartbeatMs: SECOND_MS / 2,
  /** Largest heartbeat. */
  heartbeatBytesMax: KIB,
  /** Longest delay of a heartbeat, and so of a cancel. Temporal's default would be 21.8 s. */
  heartbeatThrottleMsMax: 2 * SECOND_MS,
  /** Time after which a workflow task or query leaves the sticky queue of a worker. More than `queryTimeoutMs`. */
  stickyQueueScheduleToStartMs: 6 * SECOND_MS,
  /** Time for running calls at a shutdown that was requested from outside. Service managers kill soon after. */
  shutdownGraceMs: 30 * SECOND_MS,
  /** Time after which a shutdown is forced. */
  shutdownForceMs: MINUTE_MS,
  /** Stall of the event loop that is logged, with the running tool. */
  eventLoopStallMs: 5 * SECOND_MS,
  /**
   * Time limit of workflow code between two waits. When the SDK stops such code, Node may abort the whole process: its promise hooks are
   * left half done. The default of 5 s ends a worker on a busy machine: 10,000 signals in one task take seconds of computing.
   */
  workflowCodeMsMax: MINUTE_MS,
  /** Workflows in the worker's cache. */
  cachedWorkflowsMax: 200,
  /** Parallel activities of a worker. They wait for I/O, so one process has room for many. */
  activitiesMax: 200,
  /** Size of the worker's transcript cache. */
  transcriptCacheBytesMax: 64 * MIB,
  /** Longest time to fetch a missing page of a transcript. */
  transcriptQueryMsMax: MINUTE_MS,
  /** A notice reports a longer wait for a worker of the workspace's host. */
  toolQueueWaitMs: MINUTE_MS,
} as const;

/** Thresholds at which a run continues as new, well below the limits of the server. */
export const CONTINUE_AS_NEW_LIMITS = {
  /** Events of the history. */
  eventsMax: 4_000,
  /** Size of the history. */
  historyBytesMax: 8 * MIB,
  /** Signals in the history. A replay delivers all of them in few tasks, and the SDK spends milliseconds on each on a busy machine. */
  signalsMax: 1_000,
  /** Signals in the history of a run of an older version, which replays as it ran. */
  signalsMaxBefore: 5_000,
  /** Updates in the history. */
  updatesMax: 1_000,
  /** Ids of finished messages that a run remembers to detect duplicates. */
  seenIdsMax: 2_000,
} as const;

/** Limits of the client. */
export const CLIENT_LIMITS = {
  /** Time limit of a connection. */
  connectTimeoutMs: 5 * SECOND_MS,
  /** Time limit for a worker to accept an update; then `NO_WORKER`. */
  updateTimeoutMs: 5 * SECOND_MS,
  /** Time limit of a query, less than `stickyQueueScheduleToStartMs`: see docs/architecture/hosting.md, "A query after a lost worker". */
  queryTimeoutMs: 5 * SECOND_MS,
  /** Time limit of a second query for messages of a run, if a worker polls the queue: it may replay a long history first. */
  replayTimeoutMs: 25 * SECOND_MS,
  /** Longest id of a run or session, in characters. */
  idCharsMax: 200,
  /** Largest input of a run. The server accepts 2 MiB; larger inputs need a data converter with external storage. */
  inputBytesMax: 1.5 * MIB,
  /** Time between two requests of a watcher. */
  watchEveryMs: SECOND_MS,
  /** Wait before a lost connection is retried; doubled each time. */
  reconnectMsMin: 200,
  /** Longest wait before a lost connection is retried. */
  reconnectMsMax: 5 * SECOND_MS,
} as const;
