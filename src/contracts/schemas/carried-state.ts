import { z } from 'zod';
import { DecidedApproval, PendingApproval } from './approval.js';
import { JsonValue, Message, ToolCallPart } from './message.js';
import { Usage } from './model.js';
import { Cooldown, ModelCandidate, ModelSpending, ModelSwitch } from './model-route.js';
import type { PreparedRun } from './prepared-run.js';
import { SteerMode, SteerRecord, Step } from './run.js';

/** A message waiting to be read by the model. Times are milliseconds since 1970. */
export const QueuedMessage = z.strictObject({
  id: z.string(),
  text: z.string(),
  mode: SteerMode.optional(),
  expiresAt: z.number().optional(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

/** What the loop guard remembers of recent turns. Hashes, never texts. */
export const LoopMemory = z.strictObject({
  /**
   * Newest last, at most LOOP_LIMITS.memoryTurns. `signature`: the calls exactly; `shape`: the calls with slight differences put
   * aside; `result`: what they gave, without volatile fields.
   */
  turns: z.array(z.strictObject({ signature: z.string(), shape: z.string(), result: z.string() })).default([]),
});
export type LoopMemory = z.infer<typeof LoopMemory>;

/** Where compaction stands. */
export const CompactionMemory = z.strictObject({
  /** A pass that found nothing to gain: no other before the transcript has this many messages. */
  latchedUntil: z.number().default(0),
  /** Compactions so far. */
  count: z.number().default(0),
  failures: z.number().default(0),
  /** What the last answered call took, in and out: of the first `messages`, after so many compactions. */
  reported: z.strictObject({ tokens: z.number(), messages: z.number(), compactions: z.number() }).optional(),
});
export type CompactionMemory = z.infer<typeof CompactionMemory>;

const ToolResultSlot = z.strictObject({ message: Message, hash: z.string() });

/** What was decided of one call before it ran. `args` replace the model's own, as a hook wrote them. */
export const CallDecision = z.strictObject({
  decision: z.enum(['allow', 'block', 'ask', 'abort']),
  by: z.string(),
  reason: z.string().optional(),
  args: JsonValue.optional(),
});
export type CallDecision = z.infer<typeof CallDecision>;

/** A batch of tool calls that a continue-as-new found half done: the results so far, by position. */
export const TurnInProgress = z.strictObject({
  calls: z.array(ToolCallPart),
  results: z.array(ToolResultSlot.nullable()),
  /** What the gate and its activity said of each call, so that nothing is asked twice. */
  decisions: z.array(CallDecision.nullable()).default([]),
});
export type TurnInProgress = z.infer<typeof TurnInProgress>;

/** What the run's own activity gave, with the policy as it was then: nothing of it is filled in later. */
const Prepared = z.custom<PreparedRun>((value) => typeof value === 'object' && value !== null && 'setup' in value);

/**
 * What a run has done so far, as the looks at its end ask for it. It stands beside the transcript, which compaction makes shorter: what
 * was left out there was done all the same. Texts are cut; no list is longer than WORK_LIMITS say.
 */
export const WorkRecord = z.strictObject({
  /** Answered calls. A run without any only talked. */
  calls: z.number().int().default(0),
  /** Steps that the last successful call of the plan tool leaves open, each with its status. */
  openSteps: z.array(z.string()).default([]),
  /** Files that were edited, and nothing was read, searched or run since. */
  unverified: z.array(z.string()).default([]),
  /** Required phases that are done, by their positions in the policy. */
  phases: z.array(z.number().int()).default([]),
  versionControlFailed: z.boolean().default(false),
  /** The newest turns, in all of which every call only read; `reads` are those of files among them, each part of a file once. */
  reading: z
    .strictObject({
      turns: z.number().int().default(0),
      reads: z.array(z.strictObject({ signature: z.string(), file: z.string(), times: z.number().int() })).default([]),
    })
    .prefault({}),
  /** What the model is told once in a run, and was. `readingTurns`: the most turns of reading that it was told about. */
  told: z
    .strictObject({
      verify: z.boolean().default(false),
      readingTurns: z.number().int().default(0),
      sameRead: z.boolean().default(false),
    })
    .prefault({}),
});
export type WorkRecord = z.infer<typeof WorkRecord>;

/**
 * Everything a run takes through continue-as-new. A newer build must read what an older one wrote: fields are
 * only ever added, with a default. It may be large, and then travels through external storage.
 */
export const CarriedState = z.strictObject({
  v: z.literal(1),
  prepared: Prepared,
  transcript: z.array(z.strictObject({ message: Message, hash: z.string() })),
  chain: z.strictObject({ length: z.number(), digest: z.string() }),
  caps: z.strictObject({
    maxTurns: z.number(),
    maxTokens: z.number().optional(),
    maxCostUsd: z.number().optional(),
    deadlineMs: z.number().optional(),
  }),
  counters: z.strictObject({
    turn: z.number(),
    toolCalls: z.number(),
    /** Numbers the messages that corrections and nudges are. */
    corrections: z.number().default(0),
    truncatedAnswers: z.number(),
    pausedAnswers: z.number(),
    emptyAnswers: z.number(),
    badJson: z.number().default(0),
    emptyStreams: z.number().default(0),
    thinking: z.number().default(0),
    gateAttempts: z.number().default(0),
    schemaAttempts: z.number().default(0),
    qualityCorrections: z.number().default(0),
    steers: z.number(),
  }),
  warned: z.boolean(),
  paused: z.boolean(),
  workedMs: z.number(),
  usage: z.strictObject({ total: Usage, last: Usage.optional(), costUsd: z.number().optional() }),
  models: z.array(z.string()),
  /** Which models may be asked, which are left alone, and what each was used for. */
  route: z
    .strictObject({
      /** As a person changed them; absent: as they were prepared. */
      candidates: z.array(ModelCandidate).optional(),
      cooldowns: z.array(Cooldown),
      /** The model asked last. */
      current: z.string().optional(),
      switches: z.array(ModelSwitch),
      byModel: z.array(ModelSpending),
      usageEstimated: z.boolean().optional(),
      thinkingOff: z.boolean().optional(),
    })
    .default({ cooldowns: [], switches: [], byModel: [] }),
  inbox: z.array(QueuedMessage),
  seenIds: z.array(z.string()),
  steers: z.array(SteerRecord).default([]),
  hold: z.strictObject({ until: z.number(), by: z.string() }).optional(),
  approvals: z.strictObject({ pending: z.array(PendingApproval), decided: z.array(DecidedApproval) }).default({ pending: [], decided: [] }),
  loop: LoopMemory.prefault({}),
  /** The memories of further guards, by name; absent without any, so that an older build can read the state. */
  guards: z.record(z.string(), JsonValue).optional(),
  /** The loop guard had something to say of the last turn. */
  isRepeating: z.boolean().default(false),
  compaction: CompactionMemory.prefault({}),
  /** Answers of `pure` tools: call hash to the call whose result stands in the transcript. */
  memo: z.array(z.tuple([z.string(), z.string()])).default([]),
  steps: z.array(Step).default([]),
  /** Kept only for runs whose end is looked at. */
  work: WorkRecord.prefault({}),
  /** What the judgement did last, as operators read it. */
  lastDecision: z.string().optional(),
  events: z.strictObject({ seq: z.number(), kept: z.array(z.record(z.string(), JsonValue)) }),
  turnInProgress: TurnInProgress.optional(),
});
export type CarriedState = z.infer<typeof CarriedState>;

/** A state as any build wrote it: fields that came later may be missing. */
export type WrittenState = z.input<typeof CarriedState>;
