import { z } from 'zod';
import { FAILOVER_LIMITS, RUN_LIMITS } from '../constants/limits.js';
import { STEER_MODES } from '../constants/steer-modes.js';
import { GivenMessage, JsonValue, type Message, Part } from './message.js';
import { ThinkingSetting, Usage } from './model.js';
import { ModelSpending, ModelSwitch } from './model-route.js';

/** Where and on what a run works. */
export const RunContext = z.strictObject({
  workspace: z.string().optional(),
  projectPath: z.string().optional(),
  mode: z.enum(['code', 'ui']).optional(),
  component: z.string().optional(),
  variables: z.record(z.string(), z.string()).optional(),
});
export type RunContext = z.infer<typeof RunContext>;

/** Bounds that tests and operators may lower; absent means the numbers of limits.ts. */
export const RunBounds = z.strictObject({
  /** Go on in a fresh history after this many events; fewer than 20 could leave no room for a turn. */
  continueAsNewEvents: z.number().int().min(20).optional(),
  /** Make a transcript of more bytes shorter before it is carried into a fresh history. */
  carriedTranscriptBytes: z.number().int().min(1_000).optional(),
});
export type RunBounds = z.infer<typeof RunBounds>;

/** What `agentRun` takes: JSON, versioned, the same from every language. */
export const RunInput = z.strictObject({
  v: z.literal(1).optional(),
  task: z.union([z.string(), z.array(Part)]),
  agent: z.string().optional(),
  model: z.string().optional(),
  maxTurns: z.number().int().min(RUN_LIMITS.maxTurnsMin).max(RUN_LIMITS.maxTurnsMax).optional(),
  maxCostUsd: z.number().positive().optional(),
  maxTokens: z.number().int().positive().optional(),
  deadlineMs: z.number().int().min(RUN_LIMITS.deadlineMsMin).max(RUN_LIMITS.deadlineMsMax).optional(),
  mode: z.enum(['dispatch', 'chat']).optional(),
  /** A transcript to begin with. What system messages of it say stands in the run's prompt. */
  messages: z.array(GivenMessage).optional(),
  continuedFrom: z.string().optional(),
  context: RunContext.optional(),
  session: z.string().optional(),
  tenant: z.string().optional(),
  outputSchema: z.record(z.string(), JsonValue).optional(),
  /** At the token or money budget: give the final answer, or wait until a person extends or denies. @default finish */
  onBudget: z.enum(['finish', 'ask']).optional(),
  /** Models to ask when the first one fails, in this order; in place of the agent's and the config's. */
  fallbacks: z.array(z.string()).max(FAILOVER_LIMITS.fallbacksMax).optional(),
  /** How much the models are to think; in place of the agent's and the config's. */
  thinking: ThinkingSetting.optional(),
  /** Start although the model's price is unknown: `maxCostUsd` is then not kept, and the run says so. */
  allowUnknownPrice: z.boolean().optional(),
  bounds: RunBounds.optional(),
});
export type RunInput = z.infer<typeof RunInput>;

/** Why a run ended. `max_tokens`: the model cut the last answer. `budget`: maxTokens or maxCostUsd of the run. */
export const Reason = z.enum([
  'completed',
  'max_turns',
  'max_tokens',
  'budget',
  'deadline',
  'loop_detected',
  'refusal',
  'cancelled',
  'error',
]);
export type Reason = z.infer<typeof Reason>;

/**
 * Where a message to a live run is, or how it ended. `merged`: the same text stood right before it; `unconsumed`: the run ended first.
 * `queued` is the only state that is not final.
 */
export const SteerState = z.enum(['queued', 'delivered', 'merged', 'expired', 'refused', 'unconsumed']);
export type SteerState = z.infer<typeof SteerState>;

/** One message by its id: `turn` is the one that read it, `into` the message it was merged into. */
export const SteerRecord = z.strictObject({
  id: z.string(),
  state: SteerState,
  turn: z.number().int().optional(),
  into: z.string().optional(),
  reason: z.string().optional(),
});
export type SteerRecord = z.infer<typeof SteerRecord>;

/** What a run leaves, whatever its end. */
export const RunResult = z.strictObject({
  v: z.literal(1),
  runId: z.string(),
  executionId: z.string(),
  reason: Reason,
  output: z.string(),
  structured: JsonValue.optional(),
  turns: z.number().int(),
  toolCalls: z.number().int(),
  usage: Usage,
  lastUsage: Usage.optional(),
  costUsd: z.number().optional(),
  models: z.array(z.string()),
  /** What each model was used for; absent for runs that asked none, and for those of older versions. */
  byModel: z.array(ModelSpending).optional(),
  /** The newest changes of model. */
  switches: z.array(ModelSwitch).optional(),
  /** The part of all input tokens that was read from a provider's cache, 0 to 1. */
  cachedShare: z.number().optional(),
  /** Some of the usage is an estimate: a server reported none that makes sense, or an answer was lost. */
  usageEstimated: z.boolean().optional(),
  unconsumed: z.array(z.strictObject({ id: z.string(), text: z.string() })),
  /** What became of the last 200 messages that were put into the run; absent when there were none. */
  steers: z.array(SteerRecord).optional(),
  finalized: z.boolean().optional(),
  emptyAnswer: z.boolean().optional(),
  error: z.strictObject({ type: z.string(), message: z.string(), turn: z.number().int() }).optional(),
});
export type RunResult = z.infer<typeof RunResult>;

/** The state of a run in one word. A closed run has its reason's word. */
export const RunStatus = z.enum(['running', 'paused', 'waiting', ...Reason.options]);
export type RunStatus = z.infer<typeof RunStatus>;

/** Query `progress`: where a run stands. `turn` is the open one; the last one of a closed run. */
export interface Progress {
  readonly status: RunStatus;
  readonly phase: 'preparing' | 'model' | 'tools' | 'compacting' | 'finalising' | 'waiting' | 'closed';
  readonly waitingFor?: string;
  readonly turn: number;
  readonly maxTurns: number;
  readonly tool?: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly inbox: number;
  /** Calls (and a spent budget) that wait for a person. */
  readonly pendingApprovals: number;
  /** What the run's judgement did last: a nudge, a block, a compaction, a correction. */
  readonly lastDecision?: string;
  readonly agent: string;
  readonly model: string;
  /** Models, or keys of them, that are left alone for a while; absent: none. */
  readonly cooling?: readonly CoolingModel[];
}

/** A model that is not asked before a time, because of a failure's type. */
export interface CoolingModel {
  readonly model: string;
  readonly credential?: string;
  /** ISO 8601 */
  readonly until: string;
  readonly why: string;
}

/** Query `transcript({from, to?, bytesMax})`: `next` is the index of the first message not in the page; `length` and `digest` are of the whole. */
export interface TranscriptPage {
  readonly from: number;
  readonly next: number;
  readonly length: number;
  readonly digest: string;
  readonly messages: readonly Message[];
}

/** Update `submit`: was the message accepted, and where does it stand in the queue? */
export interface Receipt {
  readonly id: string;
  readonly accepted: boolean;
  readonly position: number;
  readonly duplicate: boolean;
}

/** When a message is read: one of STEER_MODES. */
export const SteerMode = z.enum(STEER_MODES);
export type SteerMode = z.infer<typeof SteerMode>;

/** Signal `steer`: a message for a live run. The same id twice is one message; unread after `ttlMs` it expires. */
export interface SteerInput {
  readonly id?: string;
  readonly text: string;
  /** @default boundary */
  readonly mode?: SteerMode;
  readonly ttlMs?: number;
}

/** Signal `hold`: a live conversation holds the run between turns. A second hold sets its end anew. */
export interface HoldInput {
  /** @default 10 minutes */
  readonly ttlMs?: number;
  readonly by?: string;
}

/** Update `extend`: raises caps of a live run. */
export interface ExtendInput {
  readonly turns?: number;
  readonly costUsd?: number;
  readonly tokens?: number;
  readonly deadlineMs?: number;
}

/** How one turn of a run went: query `steps`, also after the end. Times are milliseconds since 1970. */
export const Step = z.strictObject({
  agent: z.string(),
  index: z.number().int(),
  status: z.enum(['running', 'success', 'failed', 'timeout', 'cancelled']),
  started: z.number(),
  ended: z.number().optional(),
  durationMs: z.number().optional(),
  usage: Usage.optional(),
  /** Names the calls of the turn with their arguments; absent without calls. */
  toolSignature: z.string().optional(),
  /** The run, so that steps of several runs can be told apart. */
  group: z.string(),
});
export type Step = z.infer<typeof Step>;
