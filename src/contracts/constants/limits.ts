/** Every number of the contract, with its unit in the name and its reason beside it. Docs and tests read them from here. */
import { ARTIFACT_LIMITS } from './guard-limits.js';

export {
  ARTIFACT_LIMITS,
  COMPACTION_LIMITS,
  DECISION_LIMITS,
  EXECUTOR_LIMITS,
  FAILOVER_LIMITS,
  HOOK_LIMITS,
  LOOP_LIMITS,
  MEMO_LIMITS,
  OUTPUT_SCHEMA_LIMITS,
  READING_LIMITS,
  STEER_LIMITS,
  WORK_LIMITS,
} from './guard-limits.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** What bounds one run: turns, time, recoveries. */
export const RUN_LIMITS = {
  /** A task that needs more than 20 turns should say so. */
  maxTurnsDefault: 20,
  maxTurnsMin: 1,
  maxTurnsMax: 10_000,
  /** The request whose remaining turns (itself included) first reach this carries the finalise warning. */
  finaliseAtRemainingTurns: 3,
  /** Grace before a deadline = min(this, a fifth of the deadline). */
  deadlineGraceMsMax: MINUTE_MS,
  deadlineGraceFraction: 0.2,
  deadlineMsMin: SECOND_MS,
  deadlineMsMax: 30 * DAY_MS,
  /** The reserved final call may not hold a finished run back for longer. */
  finalCallTimeoutMs: MINUTE_MS,
  /** Several hosts may share a queue, and only one has the workspace: preparing is tried on up to this many. */
  prepareAttemptsMax: 10,
  /** A worker killed every few seconds must not keep one call alive for ever. */
  workerLossesMax: 20,
  /** Fresh references are made at most this often for one model call. */
  transcriptMovedMax: 3,
  /** Semantic recoveries are counted in a row and reset by a good turn. A valid but empty answer is corrected once. */
  emptyAnswersMax: 1,
  /** The provider refused the JSON of our own transcript. */
  badJsonMax: 3,
  /** A stream that ended without anything in it, after its transport attempts. */
  emptyStreamsMax: 3,
  emptyStreamBackoffMs: 500,
  /** An answer that only thought, beyond its budget. */
  thinkingMax: 2,
  /** Context overflow: compact, then shorten the largest result, then give up. */
  overflowsMax: 3,
  /** A completion gate, or an output schema, sends the model back at most this often in a row. */
  gateAttemptsMax: 3,
  /** A text-only answer that is noise or a stall is corrected at most this often in a row. */
  qualityCorrectionsMax: 2,
  /** A cut tool call is explained to the model at most twice, then the run ends with `max_tokens`. */
  truncatedAnswersMax: 2,
  /** `pause_turn` answers are sent back as they are, at most this often in a row. */
  pausedAnswersMax: 10,
  /** An unreachable model is asked again for this long before the run fails. */
  modelUnreachableMsMax: 5 * MINUTE_MS,
  modelUnreachableBackoffMsMin: SECOND_MS,
  modelUnreachableBackoffMsMax: 30 * SECOND_MS,
  /** Calls of one answer that run: each may leave a dozen events and a full output in a history that takes 51,200 and 50 MB. */
  callsPerAnswerMax: 128,
  /** `read` tools of one answer that run at the same time. */
  readToolsParallelMax: 4,
} as const;

/** What bounds one model call. */
export const MODEL_LIMITS = {
  /** Attempts that our own code reported as failed; a lost worker is not one. */
  attemptsMax: 3,
  backoffMs: SECOND_MS,
  backoffCoefficient: 2,
  retryAfterMsMin: 500,
  retryAfterMsMax: MINUTE_MS,
  turnTimeoutMs: 5 * MINUTE_MS,
  /** The total timer ends this much before startToClose, so that our own error arrives. */
  turnTimeoutMarginMs: 5 * SECOND_MS,
  /** No bytes at all for this long: the stream is dead. */
  streamIdleMs: 90 * SECOND_MS,
  /** Anthropic needs a bound on output; every current model takes this much. */
  outputTokensDefault: 8_192,
  /** Below this a budget is spent: a smaller answer would be cut in mid-sentence. */
  outputTokensMin: 256,
  /** One answer larger than this is refused rather than carried through history. */
  answerBytesMax: MIB,
  /** Fallback for models whose window is unknown. */
  contextWindowDefault: 128_000,
  /** A smaller one could not hold prompt, tools and an answer. */
  contextWindowMin: 1_000,
} as const;

/** How much a model thinks where it counts tokens. */
export const THINKING_LIMITS = {
  /** Anthropic takes no smaller budget, and less helps no model. */
  budgetTokensMin: 1_024,
  /** What the levels are worth. With `high` there is still room for a full answer in the 32,000 tokens that such models give at least. */
  budgetTokens: { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384 },
} as const;

/** What bounds one tool call. */
export const TOOL_LIMITS = {
  timeoutMsDefault: 45 * SECOND_MS,
  timeoutMsMin: SECOND_MS,
  timeoutMsMax: 60 * MINUTE_MS,
  /** startToClose = the tool's own timeout + this, so that a timeout is always our result. */
  timeoutMarginMs: 10 * SECOND_MS,
  attemptsMax: 3,
  backoffMs: SECOND_MS,
  /** SIGTERM, this long, then SIGKILL. */
  killGraceMs: 2 * SECOND_MS,
  /** A config tool that ignores its signal is abandoned after this. */
  abandonAfterMs: 4 * SECOND_MS,
  outputBytesMax: 50 * KIB,
  outputLinesMax: 2_000,
  /** A policy may let the model read up to this: one message, as JSON, stays below what outsiders may read at once. */
  outputBytesCeiling: 160 * KIB,
  /** One result may take this share of the model's window … */
  outputWindowFraction: 0.25,
  /** … and is never cut below this. */
  outputCharsMin: 2_000,
  /** Reconciling only looks; it has this long. */
  reconcileTimeoutMs: 30 * SECOND_MS,
  namePattern: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
  /** A schema is sent with every request; a larger one is a mistake. */
  schemaBytesMax: 64 * KIB,
} as const;

/** What bounds the six built-in workspace tools. */
export const WORKSPACE_LIMITS = {
  /** The longest command a model may ask for; longer work belongs in a tool of its own. */
  commandTimeoutMsMax: 10 * MINUTE_MS,
  /** One argument of a process holds 128 KiB on Linux; this many characters fit whatever their encoding. */
  commandCharsMax: 30_000,
  /** A command that prints more than an artifact can hold is taken for endless and stopped. */
  commandOutputBytesMax: ARTIFACT_LIMITS.bytesMax,
  /** Files larger than this are not rewritten or searched; reading goes line by line and has no such bound. */
  fileBytesMax: 10 * MIB,
  /** A folder tree larger than this is looked at in part, and the result says so. */
  walkEntriesMax: 50_000,
  searchMatchesMax: 500,
  searchBytesMax: 256 * MIB,
  /** A pattern that has not finished one file by then is a catastrophic one. */
  searchFileMsMax: 5 * SECOND_MS,
  searchPatternCharsMax: 1_000,
  /** Longer lines are searched this far: minified files have lines of megabytes. */
  searchLineCharsMax: 10_000,
  searchLineShownCharsMax: 300,
  globCharsMax: 500,
  /** No system opens a longer path. */
  pathCharsMax: 4_096,
  /** An instruction file (AGENTS.md …) is sent with every request: a longer one is cut with a mark. */
  instructionFileBytesMax: 20_000,
  /** What is left of a write whose process was killed is swept by the next write to that folder after this time. */
  staleWriteMs: 10 * MINUTE_MS,
} as const;

/** Heartbeats and the worker's own timers. */
export const WORKER_LIMITS = {
  heartbeatTimeoutMs: 30 * SECOND_MS,
  heartbeatEveryMs: 2 * SECOND_MS,
  heartbeatBytesMax: KIB,
  /** Cancel reaches a tool within this; the default of 0.8 × heartbeatTimeout is 21.8 s. */
  heartbeatThrottleMsMax: 2 * SECOND_MS,
  stickyQueueScheduleToStartMs: 5 * SECOND_MS,
  shutdownGraceMs: 30 * SECOND_MS,
  shutdownForceMs: MINUTE_MS,
  /** A stall of the event loop this long is logged with the tool that runs. */
  eventLoopStallMs: 5 * SECOND_MS,
  cachedWorkflowsMax: 200,
  /** Model and tool calls wait, they do not compute: many fit one process. */
  activitiesMax: 200,
  transcriptCacheBytesMax: 64 * MIB,
  /** A missing transcript page is asked for again for this long. */
  transcriptQueryMsMax: MINUTE_MS,
  /** Nobody polls the queue of the workspace's host: said after this. */
  toolQueueWaitMs: MINUTE_MS,
} as const;

/** What is read from the files of a configuration. */
export const CONFIG_LIMITS = {
  /** One file of an agent: a prompt larger than this would not fit a run's setup. */
  agentFileBytesMax: 128 * KIB,
} as const;

/** Sizes of what travels through Temporal. */
export const PAYLOAD_LIMITS = {
  /** Larger payloads go to external storage. */
  inlineBytesMax: 256 * KIB,
  /** What outsiders read (results, queries) stays under this. */
  outsideBytesMax: 192 * KIB,
  messageBytesMax: MIB,
  failureMessageBytesMax: 4 * KIB,
  /** `details[0]` of a failed run: the whole RunResult, output cut. */
  failureDetailsBytesMax: 64 * KIB,
  pageBytesDefault: 128 * KIB,
  /** What the workflow wrote since the last model call travels in the next one's input up to this; more is read through the query. */
  tailBytesMax: 64 * KIB,
  eventsMax: 1_000,
  eventsBytesMax: 256 * KIB,
  /** Steps that query `steps` still knows. */
  stepsMax: 500,
  summaryCharsMax: 120,
  currentDetailsBytesMax: 4 * KIB,
  transcriptBytesMax: 32 * MIB,
} as const;

/** Continue-as-new well before the server's own limits. */
export const CONTINUE_AS_NEW_LIMITS = {
  eventsMax: 4_000,
  historyBytesMax: 8 * MIB,
  signalsMax: 5_000,
  updatesMax: 1_000,
  /** Messages whose end a run remembers: an id among them is a duplicate. */
  seenIdsMax: 2_000,
} as const;

/** What the client waits for. */
export const CLIENT_LIMITS = {
  connectTimeoutMs: 5 * SECOND_MS,
  /** No worker took an update in this time: it is not accepted. */
  updateTimeoutMs: 5 * SECOND_MS,
  queryTimeoutMs: 5 * SECOND_MS,
  idCharsMax: 200,
  /** A server takes 2 MiB a payload; larger inputs need a data converter with external storage. */
  inputBytesMax: 1.5 * MIB,
  /** A watcher asks for progress and events this often. */
  watchEveryMs: SECOND_MS,
  /** A lost connection is tried again after this, doubled up to the maximum. */
  reconnectMsMin: 200,
  reconnectMsMax: 5 * SECOND_MS,
} as const;

/** Token streams. */
export const STREAM_LIMITS = {
  coalesceMs: 60,
  /** A sink whose disk stalls drops tokens above this rather than fill the worker's memory. */
  bufferedBytesMax: 4 * MIB,
  /** A watcher reads this much at a time. */
  readBytes: 64 * KIB,
} as const;
