import { z } from 'zod';
import { DecidedApproval, PendingApproval } from './approval.js';
import { Conversation } from './conversation.js';
import { CarriedHandoffs } from './handoff.js';
import { CarriedShare } from './ledger.js';
import { JsonValue, Message, ToolCallPart } from './message.js';
import { Usage } from './model.js';
import { Cooldown, ModelCandidate, ModelSpending, ModelSwitch } from './model-route.js';
import type { PreparedRun } from './prepared-run.js';
import { AnsweredQuestion, PendingQuestion } from './question.js';
import { SteerMode, SteerRecord } from './run.js';
import { SamplingTotals } from './sampling.js';
import { Step } from './step.js';
import { CarriedSubagents } from './subagent.js';

/** A message that is queued for delivery. Times are milliseconds since 1970. */
export const QueuedMessage = z.strictObject({
  id: z.string(),
  text: z.string(),
  mode: SteerMode.optional(),
  expiresAt: z.number().optional(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

/** Memory of the loop guard: hashes of recent turns, never texts. */
export const LoopMemory = z.strictObject({
  /**
   * Newest last, at most LOOP_LIMITS.memoryTurns. `signature`: hash of the calls; `shape`: hash of the calls without slight differences;
   * `result`: hash of the results without volatile fields.
   */
  turns: z.array(z.strictObject({ signature: z.string(), shape: z.string(), result: z.string() })).default([]),
});
export type LoopMemory = z.infer<typeof LoopMemory>;

/** Memory of compaction. */
export const CompactionMemory = z.strictObject({
  /** After a pass without a gain: the number of messages at which the next pass may run. */
  latchedUntil: z.number().default(0),
  /** Compactions so far. */
  count: z.number().default(0),
  failures: z.number().default(0),
  /** Tokens (input and output) of the last answered call, for its number of messages and of compactions. */
  reported: z.strictObject({ tokens: z.number(), messages: z.number(), compactions: z.number() }).optional(),
});
export type CompactionMemory = z.infer<typeof CompactionMemory>;

const ToolResultSlot = z.strictObject({ message: Message, hash: z.string() });

/** Decision on one call before it runs. `args` replace the model's arguments when a hook changed them. */
export const CallDecision = z.strictObject({
  decision: z.enum(['allow', 'block', 'ask', 'abort']),
  by: z.string(),
  reason: z.string().optional(),
  args: JsonValue.optional(),
});
export type CallDecision = z.infer<typeof CallDecision>;

/** A batch of tool calls that was unfinished at continue-as-new: the results so far, by position. */
export const TurnInProgress = z.strictObject({
  calls: z.array(ToolCallPart),
  results: z.array(ToolResultSlot.nullable()),
  /** Decisions of the gate by position, so that no call is checked twice. */
  decisions: z.array(CallDecision.nullable()).default([]),
});
export type TurnInProgress = z.infer<typeof TurnInProgress>;

/** A call of `sleep` that has not ended. Times are milliseconds since 1970. */
export const Sleep = z.strictObject({ callId: z.string(), from: z.number(), until: z.number() });
export type Sleep = z.infer<typeof Sleep>;

/** The result of `prepareRun`, unchanged: no default is added later. */
const Prepared = z.custom<PreparedRun>((value) => typeof value === 'object' && value !== null && 'setup' in value);

/**
 * Work of a run so far, for the completion checks. It is separate from the transcript, because compaction removes messages there. Texts
 * and lists are limited by WORK_LIMITS.
 */
export const WorkRecord = z.strictObject({
  /** Answered calls. A run without calls passes every check. */
  calls: z.number().int().default(0),
  /** Open steps of the last successful call of the plan tool, each with its status. */
  openSteps: z.array(z.string()).default([]),
  /** Files that were edited, with no read, search or command since. */
  unverified: z.array(z.string()).default([]),
  /** Completed phases, by their positions in the policy. */
  phases: z.array(z.number().int()).default([]),
  versionControlFailed: z.boolean().default(false),
  /** The newest turns in a row whose calls are all `read`. `reads` has each part of a file that they read, once. */
  reading: z
    .strictObject({
      turns: z.number().int().default(0),
      reads: z.array(z.strictObject({ signature: z.string(), file: z.string(), times: z.number().int() })).default([]),
    })
    .prefault({}),
  /** Corrections that are sent once in a run. `readingTurns`: the highest threshold that was reported. */
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
 * The state that a run carries through continue-as-new. A newer build must read the state of an older one: fields are only ever added,
 * with a default. A large state is stored externally.
 */
export const CarriedState = z.strictObject({
  v: z.literal(1),
  prepared: Prepared,
  transcript: z.array(z.strictObject({ message: Message, hash: z.string() })),
  chain: z.strictObject({ length: z.number(), digest: z.string() }),
  /** The conversation before the transcript, by reference. Absent for most runs, so that an older build can read the state. */
  inherits: Conversation.optional(),
  caps: z.strictObject({
    maxTurns: z.number(),
    maxTokens: z.number().optional(),
    maxCostUsd: z.number().optional(),
    deadlineMs: z.number().optional(),
  }),
  counters: z.strictObject({
    turn: z.number(),
    toolCalls: z.number(),
    /** Number of corrections and warnings, which their message ids are made of. */
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
  usage: z.strictObject({
    total: Usage,
    last: Usage.optional(),
    costUsd: z.number().optional(),
    /** Absent before the first completion for an MCP server, so that an older build can read the state. */
    sampled: SamplingTotals.optional(),
  }),
  models: z.array(z.string()),
  /** The models of the run, their cooldowns and their spending. */
  route: z
    .strictObject({
      /** The models after a `/model` command. Absent: as prepared. */
      candidates: z.array(ModelCandidate).optional(),
      cooldowns: z.array(Cooldown),
      /** The model of the last request. */
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
  /** States of further guards, by name. Absent without any, so that an older build can read the state. */
  guards: z.record(z.string(), JsonValue).optional(),
  /** The loop guard intervened in the last turn. */
  isRepeating: z.boolean().default(false),
  compaction: CompactionMemory.prefault({}),
  /** Results of `pure` tools: hash of the call, and id of the call with the result in the transcript. */
  memo: z.array(z.tuple([z.string(), z.string()])).default([]),
  steps: z.array(Step).default([]),
  /** Recorded only for runs with completion checks. */
  work: WorkRecord.prefault({}),
  /** Ids of calls whose outcome is unknown. Absent without any, so that an older build can read the state. */
  unknownOutcomes: z.array(z.string()).optional(),
  /** Last intervention of a guard, as operators see it. */
  lastDecision: z.string().optional(),
  events: z.strictObject({ seq: z.number(), kept: z.array(z.record(z.string(), JsonValue)) }),
  /** Place and money of its tenant. Absent without limits, so that an older build can read the state. */
  tenant: CarriedShare.optional(),
  /** Absent before the first sub-agent, so that an older build can read the state. */
  subagents: CarriedSubagents.optional(),
  /** The server has cancelled this sub-agent because its parent continued as new, and does so no more. Absent until then. */
  parentContinued: z.literal(true).optional(),
  /** Absent before the first handoff, so that an older build can read the state. */
  handoffs: CarriedHandoffs.optional(),
  /** Absent before the first question, so that an older build can read the state. */
  questions: z.strictObject({ pending: z.array(PendingQuestion), answered: z.array(AnsweredQuestion) }).optional(),
  /** Calls of `sleep` that have not ended. Absent without any, so that an older build can read the state. */
  sleeps: z.array(Sleep).optional(),
  turnInProgress: TurnInProgress.optional(),
});
export type CarriedState = z.infer<typeof CarriedState>;

/** A state as an older build may have written it: fields that were added later may be missing. */
export type WrittenState = z.input<typeof CarriedState>;
