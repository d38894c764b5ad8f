/** Limits of guards, fail-over, approvals, hooks, compaction, artifacts and secrets. limits.ts exports them too. */

import { DAY_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Thresholds of the loop guard, in turns, the current one included. */
export const LOOP_LIMITS = {
  /** Default of `loop.nudgeAt`: a warning. */
  nudgeAt: 3,
  /** Default of `loop.blockAt`: the repeated calls are blocked. */
  blockAt: 4,
  /** Default of `loop.stopAt`: the run ends with `loop_detected`. */
  stopAt: 5,
  /** Turns of a strict alternation (A B A B A B) that are a loop. */
  alternationTurns: 6,
  /** Number of newest turns that the guard checks for `windowDistinctMax`. */
  windowTurns: 8,
  /** If these turns contain at most this many different ones, they are a loop. */
  windowDistinctMax: 2,
  /** Turns between the warning about such a pattern and the end. */
  patternGraceTurns: 2,
  /** The run ends after this many turns with the same call, whatever its results. */
  ceilingTurns: 30,
  /** Turns in a row whose arguments are no JSON objects. The last of them ends the run with `loop_detected`. */
  badArgumentsTurns: 3,
  /** A warning is added after this many turns with the same call. */
  ceilingNudgeTurns: 25,
  /** Turns that the guard remembers: enough for two alternating calls to reach `ceilingTurns`. */
  memoryTurns: 60,
  /** Longest arguments, in characters, that are also compared approximately. Longer ones must be equal. */
  shapeCharsMax: 2_000,
} as const;

/** Fail-over between models and keys. */
export const FAILOVER_LIMITS = {
  /** Cooldowns of a model that is rate limited, overloaded, slow or unreachable, by failures in a row. */
  cooldownsMs: [MINUTE_MS, 5 * MINUTE_MS, 25 * MINUTE_MS, 60 * MINUTE_MS],
  /** Cooldowns of a key whose account is spent. */
  quotaCooldownsMs: [5 * 60 * MINUTE_MS, DAY_MS],
  /** Cooldown of a refused key and of a model that does not exist. Only a person can fix them. */
  lastingCooldownsMs: [DAY_MS],
  /** Longest cooldown, also for a Retry-After. */
  cooldownMsMax: DAY_MS,
  /** Length of such a cooldown for other runs of the worker, because the cause may be fixed meanwhile. */
  sharedLastingCooldownMs: 10 * MINUTE_MS,
  /** Longest wait for a cooldown when every model is cooling down. */
  waitMsMax: MINUTE_MS,
  /** Fallbacks of a run. */
  fallbacksMax: 16,
  /** Keys of a provider. */
  credentialsMax: 16,
  /** Changes of model that the result lists. */
  switchesKept: 100,
  /** Time limit of a request for a server's list of models. */
  modelListTimeoutMs: 5 * SECOND_MS,
} as const;

/** Limits of an agent that is a child process. */
export const EXECUTOR_LIMITS = {
  /** Longest time between two answers. Frameworks are silent while they think. */
  timeoutMsDefault: 5 * MINUTE_MS,
  /** Extra time of the activity, to start and to end the process. */
  timeoutMarginMs: 20 * SECOND_MS,
  /** Longest wait for results, pending approvals included. Then the process is ended. */
  idleMsDefault: 10 * MINUTE_MS,
  /** Time between two checks whether the run of a waiting process is closed. */
  lookEveryMs: 5 * SECOND_MS,
  /** Time that the process is kept after its final answer, for a correction or a late message. */
  afterFinalMs: 30 * SECOND_MS,
  /** Time between the cancel line and SIGTERM. */
  cancelGraceMs: 500,
  /** Largest line. An escaped answer of the largest size fits. */
  lineBytesMax: 2 * MIB,
  /** Output between two answers, text outside the protocol included. */
  outputBytesMax: 64 * MIB,
  /** End of the text outside the protocol that errors quote. An error has 2 KiB. */
  tailBytes: 1.5 * KIB,
} as const;

/** Warnings for runs with completion checks that only read. */
export const READING_LIMITS = {
  /** Turns in a row that only read. Each threshold adds one warning. */
  nudgeAtTurns: [4, 6, 8],
  /** Repeated reads of the same part of a file before a warning. */
  sameReadMax: 2,
} as const;

/** Limits of the work record for completion checks, which is carried through continue-as-new. */
export const WORK_LIMITS = {
  /** Open steps, and unverified files. */
  namesMax: 200,
  /** Characters of each name. */
  nameCharsMax: 120,
  /** Reads since the last change. */
  readsMax: 100,
  /** Turns between two updates of the search attributes `AgentTurns` and `AgentCostUsd`. Each update is one event of the history. */
  reportEveryTurns: 10,
} as const;

/** Limits of approvals and holds. */
export const DECISION_LIMITS = {
  /** Default of `approvalExpireMs`: the time after which a pending approval is denied. */
  approvalExpireMsDefault: 3 * DAY_MS,
  /** Lowest `approvalExpireMs`. */
  approvalExpireMsMin: SECOND_MS,
  /** Highest `approvalExpireMs`. */
  approvalExpireMsMax: 30 * DAY_MS,
  /** Characters of `by`. */
  byCharsMax: 200,
  /** Characters of `reason`. */
  reasonCharsMax: 1_000,
  /** Characters of the `reason` of a cancel. */
  cancelReasonCharsMax: 500,
  /** Decisions that a run keeps. */
  decidedKept: 200,
  /** Arguments of a pending call, as lists show them. */
  argsShownBytesMax: 8 * KIB,
  /** Arguments of a pending call in one line of a terminal or of the Web UI. */
  argsInLineBytesMax: 240,
  /** Default of a hold's `ttlMs`. */
  holdTtlMsDefault: 10 * MINUTE_MS,
  /** Shortest hold. */
  holdTtlMsMin: SECOND_MS,
  /** Longest hold. */
  holdTtlMsMax: DAY_MS,
} as const;

/** Limits of hooks and gates of a config. They run in activities and fail closed. */
export const HOOK_LIMITS = {
  /** Time limit of a gate, and of a hook without one. */
  timeoutMsDefault: 10 * SECOND_MS,
  /** Shortest time limit of a hook. */
  timeoutMsMin: 100,
  /** Longest time limit of a hook, and of all hooks of one action. */
  timeoutMsMax: 5 * MINUTE_MS,
  /** Default of `priority`. A lower number runs first. */
  priorityDefault: 100,
  /** Longest name of a hook, in characters. */
  nameCharsMax: 100,
  /** Text of a result that hooks after a tool see. The rest is withheld. */
  outputBytesMax: 4 * MIB,
  /** Time for hooks after a call that was cancelled, so that a cancel takes at most five seconds. */
  afterStopMs: SECOND_MS / 2,
} as const;

/** Limits of output schemas. */
export const OUTPUT_SCHEMA_LIMITS = {
  /** Largest schema. It is part of every request. */
  bytesMax: 64 * KIB,
  /** Time limit of a validation, against catastrophic patterns. */
  checkMsMax: SECOND_MS,
  /** Heap of the thread that validates, in MiB. */
  checkMemoryMiBMax: 64,
  /** Largest JSON of an answer. It is part of the run's result. */
  answerBytesMax: 64 * KIB,
  /** Problems that a correction lists. */
  problemsShown: 5,
  /** Characters of the schema that a correction quotes. */
  excerptCharsMax: 2_000,
} as const;

/** Limits of remembered results of `pure` tools. */
export const MEMO_LIMITS = {
  /** Remembered results. */
  entriesMax: 256,
  /** Calls with an unknown outcome that a result names, the newest ones. */
  unknownOutcomesMax: 50,
} as const;

/** Compaction. Tokens are estimated as a quarter of the characters. */
export const COMPACTION_LIMITS = {
  /** Default of `compaction.softFraction`: fraction of the window at which compaction starts. */
  softFraction: 0.6,
  /** Compaction starts this many tokens below the window, if that is lower than the fraction. */
  reserveTokens: 16_384,
  /** Fraction of the window at which a pass keeps only the last group. */
  pressureFraction: 0.9,
  /** Default of `compaction.keepRecentTokens`. */
  keepRecentTokens: 20_000,
  /** Fewest messages that stay unchanged. */
  keepRecentMin: 4,
  /** Most messages that stay unchanged. */
  keepRecentMax: 40,
  /** Smallest saving of a pass. A smaller one is not worth a new prompt cache. */
  savingsFractionMin: 0.1,
  /** After a pass that saved nothing, the next pass waits for this many new messages. */
  latchMessages: 8,
  /** Target of a pass, as a fraction of the size at which passes start. */
  targetFraction: 0.5,
  /** Characters of an old tool result that its stub keeps. */
  stubChars: 160,
  /** Longest stub in characters. Shorter results stay unchanged. */
  stubbedCharsMax: 600,
  /** Characters that old texts of the model keep of their beginning. */
  shortenedHeadChars: 500,
  /** Characters that old texts of the model keep of their end. */
  shortenedTailChars: 200,
  /** Newest paths, ids and URLs that are kept from removed messages. */
  identifiersKept: 40,
  /** Time limit of a summary. */
  summaryTimeoutMs: MINUTE_MS,
  /** Attempts of a summary. */
  summaryAttemptsMax: 3,
  /** Shortest wait between two attempts. */
  summaryBackoffMsMin: 500,
  /** Longest wait between two attempts. */
  summaryBackoffMsMax: 5 * SECOND_MS,
  /** Output limit of a summary. */
  summaryOutputTokens: 2_048,
  /** Characters of a message. The request for a summary leaves out larger ones, with a note. */
  summaryMessageCharsMax: 20_000,
  /** Characters of one request. More are summarized in several requests, each with the summary so far. */
  summaryRequestCharsMax: 200_000,
} as const;

/** Limits of artifacts: outputs that are stored outside the transcript. */
export const ARTIFACT_LIMITS = {
  /** Largest artifact. */
  bytesMax: 1_024 * MIB,
  /** Page that `read_artifact` returns, which is below the limit of a tool output. */
  pageBytes: 32 * KIB,
  /** Characters of the beginning that the transcript contains. */
  headChars: 500,
  /** Longest wait for the storage of an output after its end. */
  finishMsMax: 5 * SECOND_MS,
  /** Longest such wait for a cancelled call, so that a cancel takes at most five seconds. */
  finishMsMaxStopped: SECOND_MS / 2,
  /** Buffer of an output. A faster output waits for the storage. */
  pendingBytesMax: 256 * KIB,
  /** Bytes between two syncs of a file to disk, so that no sync takes long. */
  syncEveryBytes: 64 * MIB,
  /** Part of an upload: the smallest that S3 accepts, because it is held in memory. */
  uploadPartBytes: 5 * MIB,
  /** Age at which a temporary file of a killed process is removed. */
  staleWriteMs: 10 * MINUTE_MS,
} as const;

/** Limits of contents: of images, and of the search for secrets in data that leaves a worker. */
export const CONTENT_LIMITS = {
  /** Pixels of one side of an image, above what providers accept. A small file can state a size that no decoder has the memory for. */
  imageSideMax: 16_384,
  /** Pixels of an image in all. */
  imagePixelsMax: 100_000_000,
  /** Shortest secret that is replaced. A shorter value is a placeholder, and would be found in ordinary text. */
  secretCharsMin: 8,
  /** Values of one key reference that are replaced, the newest ones: a key that was rotated may still be valid. */
  secretValuesMax: 4,
  /** Time between two readings of a key file, so that a rotated key is known soon and reading costs nothing. */
  secretRereadMs: SECOND_MS,
} as const;

/** Sub-agents of a run. */
export const SUBAGENT_LIMITS = {
  /** Levels of sub-agents below a run whose agent names no `depth`. A sub-agent then has none of its own. */
  depthDefault: 1,
  /** Highest `depth`. */
  depthMax: 2,
  /** Sub-agents of one run at once. Further ones wait. */
  liveMax: 5,
  /** Longest task, in characters. A longer text belongs into a file. */
  taskCharsMax: 50_000,
  /** Sub-agents in the result of a run: the newest ones. */
  resultRecordsMax: 100,
  /** Largest beginning of an answer that the model did not read, in the result of a run, in bytes. */
  resultOutputBytesMax: 1_000,
  /** Sub-agents in the progress of a run. */
  shownMax: 20,
  /** Fewest tokens with which a sub-agent is started: a prompt with a task, and a short answer. */
  tokensMin: 1_000,
  /** Time limit of one attempt to wait for a sub-agent that an earlier history started. It is repeated until the sub-agent ends. */
  awaitTimeoutMs: 60 * MINUTE_MS,
  /** Ids that are tried for a sub-agent: an earlier run of the same id may have left one at work. */
  idsTriedMax: 20,
} as const;

/** Handoffs of a run from agent to agent. */
export const HANDOFF_LIMITS = {
  /** Handoffs of one run, so that two agents do not hand a task to each other until the turn limit. */
  perRunMax: 10,
  /** Longest note, in characters. The conversation says the rest. */
  noteCharsMax: 4_000,
  /** The beginning of the task with which the next agent is prepared, in bytes: skills may match it. */
  taskBytesMax: 4_000,
} as const;
