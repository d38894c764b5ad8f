/** The numbers of a run's judgement. They are part of limits.ts, which hands them on. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** When the same work again becomes a loop. Counted in turns, the present one included. */
export const LOOP_LIMITS = {
  /** One corrective message. */
  nudgeAt: 3,
  /** That very call is not run any more: its result says why. */
  blockAt: 4,
  /** The run ends with `loop_detected`. */
  stopAt: 5,
  /** A B A B A B. */
  alternationTurns: 6,
  /** At most two different turns among the last eight. */
  windowTurns: 8,
  windowDistinctMax: 2,
  /** Turns that a pattern of two may go on after its nudge. */
  patternGraceTurns: 2,
  /** The same call this often is no progress, whatever its results were made to look like. */
  ceilingTurns: 30,
  /** Said before the ceiling, while the run can still go another way. */
  ceilingNudgeTurns: 25,
  /** Two calls in turn reach the ceiling within this many turns: no rule looks further back. */
  memoryTurns: 60,
  /** Arguments longer than this are compared exactly only. */
  shapeCharsMax: 2_000,
} as const;

/** When another model is asked. */
export const FAILOVER_LIMITS = {
  /** Leave a model alone that is limited, overloaded, slow or out of reach: longer with each failure in a row. */
  cooldownsMs: [MINUTE_MS, 5 * MINUTE_MS, 25 * MINUTE_MS, 60 * MINUTE_MS],
  /** A spent account is filled up by people. */
  quotaCooldownsMs: [5 * 60 * MINUTE_MS, DAY_MS],
  /** A refused key stays refused, and a model that is no more stays away, until a person changes it. */
  lastingCooldownsMs: [DAY_MS],
  cooldownMsMax: DAY_MS,
  /** Other runs of a worker believe for so long what only a person ends: it may have been put right meanwhile. */
  sharedLastingCooldownMs: 10 * MINUTE_MS,
  /** When every model is left alone and one is back this soon, the run waits for it rather than ask in vain. */
  waitMsMax: MINUTE_MS,
  fallbacksMax: 16,
  credentialsMax: 16,
  /** Switches that the result still tells of: the newest. */
  switchesKept: 100,
  /** One answer of a server about the models it has. */
  modelListTimeoutMs: 5 * SECOND_MS,
} as const;

/** What bounds an agent that is a child process. */
export const EXECUTOR_LIMITS = {
  /** From one of its answers to the next: frameworks are silent while they think. */
  timeoutMsDefault: 5 * MINUTE_MS,
  /** The activity may take this much longer: starting the process, and ending it so that the error names what it said last. */
  timeoutMarginMs: 20 * SECOND_MS,
  /** A process that waits for results longer than this is ended; a person may take long to approve. */
  idleMsDefault: 10 * MINUTE_MS,
  /** How often a worker looks whether the run of a waiting process is over: nobody tells it, and the look is one small request. */
  lookEveryMs: 5 * SECOND_MS,
  /** After its final answer it is kept for a correction or a late message, then ended. */
  afterFinalMs: 30 * SECOND_MS,
  /** Between the line that says so and SIGTERM. */
  cancelGraceMs: 500,
  /** One line, as JSON: a whole answer fits, escaped. */
  lineBytesMax: 2 * MIB,
  /** All it writes between two answers, also what is no protocol. More is taken for endless. */
  outputBytesMax: 64 * MIB,
  /** The end of what it wrote beside the protocol, in errors: an error has 2 KiB in all. */
  tailBytes: 1.5 * KIB,
} as const;

/** When reading without doing is spoken about, in runs whose end is looked at. */
export const READING_LIMITS = {
  /** Turns that only read, with rising urgency; each is said once. */
  nudgeAtTurns: [4, 6, 8],
  /** The same read of the same file; said once. */
  sameReadMax: 2,
} as const;

/** What is remembered of a run's work for the looks at its end. It is carried into every fresh history. */
export const WORK_LIMITS = {
  /** Open steps and unverified files each. A correction names ten and counts the rest, up to this. */
  namesMax: 200,
  nameCharsMax: 120,
  /** Parts of files read since the last change: the newest. */
  readsMax: 100,
} as const;

/** What bounds decisions of people: approvals, holds. */
export const DECISION_LIMITS = {
  /** An approval nobody gives is a denial. */
  approvalExpireMsDefault: 3 * DAY_MS,
  approvalExpireMsMin: SECOND_MS,
  approvalExpireMsMax: 30 * DAY_MS,
  /** Who decided, and why: shown to operators, never sent on unbounded. */
  byCharsMax: 200,
  reasonCharsMax: 1_000,
  cancelReasonCharsMax: 500,
  /** Decisions that are remembered, so that a second one is told what the first was. */
  decidedKept: 200,
  /** Arguments as operators see them in lists. */
  argsShownBytesMax: 8 * KIB,
  /** … and in one line of a terminal or of the Web UI. */
  argsInLineBytesMax: 240,
  /** A hold whose holder is gone lets go by itself; a shorter one would be over before anybody spoke. */
  holdTtlMsDefault: 10 * MINUTE_MS,
  holdTtlMsMin: SECOND_MS,
  holdTtlMsMax: DAY_MS,
} as const;

/** What bounds messages to a live run, beside their size. */
export const STEER_LIMITS = {
  /** An unread message expires after its time to live; without one it never does. */
  ttlMsMin: SECOND_MS,
  ttlMsMax: 30 * DAY_MS,
  /** What became of messages, as it stands in the result beside output and unread ones. */
  resultRecordsMax: 200,
  resultBytesMax: 12 * KIB,
  /** Why a message was refused may quote it, and a message may be long. */
  refusalBytesMax: 500,
} as const;

/** What bounds a hook or gate of a user: it runs in an activity and fails closed. */
export const HOOK_LIMITS = {
  timeoutMsDefault: 10 * SECOND_MS,
  timeoutMsMin: 100,
  timeoutMsMax: 5 * MINUTE_MS,
  /** A lower number runs first. */
  priorityDefault: 100,
  nameCharsMax: 100,
  /** What a hook after a tool is shown of its text; what is above is shown to nobody. */
  outputBytesMax: 4 * MIB,
  /** Hooks after a call that was stopped: a cancel is answered within five seconds, whatever they do, the tool and the store of its output. */
  afterStopMs: SECOND_MS / 2,
} as const;

/** What bounds the schema that a run's answer must fit. */
export const OUTPUT_SCHEMA_LIMITS = {
  /** It is in the prompt of every request. */
  bytesMax: 64 * KIB,
  /** A pattern of the schema that has not finished by then is a catastrophic one. */
  checkMsMax: SECOND_MS,
  /** The heap of the thread that checks: a schema may ask for the same problem a million times. */
  checkMemoryMiBMax: 64,
  /** The JSON stands in the run's result beside its text. */
  answerBytesMax: 64 * KIB,
  /** What a correction says of problems, and shows of the schema. */
  problemsShown: 5,
  excerptCharsMax: 2_000,
} as const;

/** Answers of `pure` tools that are not asked for twice. */
export const MEMO_LIMITS = { entriesMax: 256 } as const;

/** When a transcript is made shorter, and how far. Tokens are estimated as a quarter of the characters. */
export const COMPACTION_LIMITS = {
  /** Compaction begins at this share of the window, or at window − reserve, whichever is lower. */
  softFraction: 0.6,
  reserveTokens: 16_384,
  /** At this share the pass is forced and keeps only the last group. */
  pressureFraction: 0.9,
  /** What recent messages keep when older ones are made short. */
  keepRecentTokens: 20_000,
  keepRecentMin: 4,
  keepRecentMax: 40,
  /** A pass that saves less than this share is not worth a new prompt cache. */
  savingsFractionMin: 0.1,
  /** After a pass that found nothing, this many new messages before the next look. */
  latchMessages: 8,
  /** A pass goes down to this share of where passes begin, so that the next one is far away. */
  targetFraction: 0.5,
  /** What a stub of an old tool result keeps of it … */
  stubChars: 160,
  /** … and how long it is at most, with its mark and the identifiers it names: shorter results are left as they are. */
  stubbedCharsMax: 600,
  /** Old texts of the model, and texts among the arguments of its calls, keep this much of their beginning and end. */
  shortenedHeadChars: 500,
  shortenedTailChars: 200,
  /** The newest paths, ids and URLs that outlive the messages that named them. */
  identifiersKept: 40,
  summaryTimeoutMs: MINUTE_MS,
  summaryAttemptsMax: 3,
  summaryBackoffMsMin: 500,
  summaryBackoffMsMax: 5 * SECOND_MS,
  summaryOutputTokens: 2_048,
  /** Larger messages are left out of a summary's request, with a note. */
  summaryMessageCharsMax: 20_000,
  /** One request for a summary reads this much; more is summed up in several, each with the summary so far. */
  summaryRequestCharsMax: 200_000,
} as const;

/** What bounds outputs that are kept beside the transcript. */
export const ARTIFACT_LIMITS = {
  bytesMax: 1_024 * MIB,
  /** One page that `read_artifact` gives: below what a tool may answer. */
  pageBytes: 32 * KIB,
  /** The beginning that stands in the transcript beside the reference. */
  headChars: 500,
  /** Storing goes on while an output comes; its end is waited for this long … */
  finishMsMax: 5 * SECOND_MS,
  /** … and for a call that was told to stop only this long, because it must answer within five seconds. */
  finishMsMaxStopped: SECOND_MS / 2,
  /** An output that comes faster than the store takes it waits once this much is on its way. */
  pendingBytesMax: 256 * KIB,
  /** A file is brought to the disk in steps of this size, so that no step takes long. */
  syncEveryBytes: 64 * MIB,
  /** One part of an upload: the smallest that S3 takes, since it is held in memory. */
  uploadPartBytes: 5 * MIB,
  /** What is left of a writer whose process was killed is swept after this time. */
  staleWriteMs: 10 * MINUTE_MS,
} as const;
