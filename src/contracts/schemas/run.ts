import { z } from 'zod';
import { AUTH_LIMITS, FAILOVER_LIMITS, INPUT_LIMITS, RUN_LIMITS } from '../constants/limits.js';
import { STEER_MODES } from '../constants/steer-modes.js';
import { Conversation } from './conversation.js';
import { GivenMessage, JsonValue, Part } from './message.js';
import { ThinkingSetting, Usage } from './model.js';
import { ModelSpending, ModelSwitch } from './model-route.js';
import { RunContext } from './run-context.js';
import { SamplingTotals } from './sampling.js';
import { EndedSubagent, ParentRun } from './subagent.js';

/** A name that also stands in the memo, in a search attribute, or in the Web UI. */
const Name = z.string().max(INPUT_LIMITS.nameCharsMax);

/** Thresholds that tests and operators may lower. */
export const RunBounds = z.strictObject({
  /** Continues as new after this many events. Fewer than 20 could leave no room for a turn. @default 4,000 */
  continueAsNewEvents: z.number().int().min(20).optional(),
  /** Continues as new after this many signals. @default 1,000 */
  continueAsNewSignals: z.number().int().min(10).optional(),
  /** Size in bytes. A larger transcript is compacted before the run continues as new. @default 32 MiB */
  carriedTranscriptBytes: z.number().int().min(1_000).optional(),
});
export type RunBounds = z.infer<typeof RunBounds>;

/** Input of workflow `agentRun`: versioned JSON, the same for every language. */
export const RunInput = z.strictObject({
  /** Version of the input. @default 1 */
  v: z.literal(1).optional(),
  /** The task: text, or a list of parts. */
  task: z.union([z.string(), z.array(Part)]),
  /** Name of an agent of the config. @default the agent `default` of the config, else a built-in one */
  agent: Name.optional(),
  /** `provider/model`, or a bare name, which is looked up. @default the agent's, `PERDURE_MODEL`, the config's */
  model: Name.optional(),
  /** Turn limit. @default the agent's, else the config's, else 20 */
  maxTurns: z.number().int().min(RUN_LIMITS.maxTurnsMin).max(RUN_LIMITS.maxTurnsMax).optional(),
  /** Cost limit in USD, over all model calls. It needs a known price. @default the agent's, else none */
  maxCostUsd: z.number().positive().optional(),
  /** Token limit over all model calls, input and output. @default the agent's, else none */
  maxTokens: z.number().int().positive().optional(),
  /** Working time in milliseconds. Pauses, holds and waits for approval do not count. @default the agent's, else none */
  deadlineMs: z.number().int().min(RUN_LIMITS.deadlineMsMin).max(RUN_LIMITS.deadlineMsMax).optional(),
  /** `dispatch` runs the agent loop. `chat` answers in exactly one turn, without tool calls. @default dispatch */
  mode: z.enum(['dispatch', 'chat']).optional(),
  /**
   * A transcript to start with. The text of its system messages (`{ role: 'system', parts }`) is added to the prompt. Runs that continue
   * this run keep that text. Messages that no provider accepts are repaired, and an event reports it.
   */
  messages: z.array(GivenMessage).optional(),
  /** Id of the run that this one continues. */
  continuedFrom: z.string().max(INPUT_LIMITS.workflowIdCharsMax).optional(),
  /** Workspace and facts for the prompt. */
  context: RunContext.optional(),
  /** Conversation that the run belongs to. Written to search attribute `AgentSession`. */
  session: Name.optional(),
  /** Tenant that the run belongs to, whose limits apply. Written to search attribute `AgentTenant`. @default none */
  tenant: Name.optional(),
  /** A JSON Schema that the answer must match. In a chat the answer is validated once and not corrected. */
  outputSchema: z.record(z.string(), JsonValue).optional(),
  /** At a limit of turns, tokens, cost or time: `finish` writes the final answer, `ask` waits for approval. @default the agent's */
  onBudget: z.enum(['finish', 'ask']).optional(),
  /** Models to fail over to, in this order, when `model` fails; `[]` for none. @default the agent's, `PERDURE_FALLBACKS`, the config's */
  fallbacks: z.array(Name).max(FAILOVER_LIMITS.fallbacksMax).optional(),
  /** How much the models think. @default the agent's, else the model's, else the config's */
  thinking: ThinkingSetting.optional(),
  /** Starts a run with `maxCostUsd` although the price is unknown. The cost limit is not enforced then. @default the agent's, else false */
  allowUnknownPrice: z.boolean().optional(),
  /** The run that delegated this one. Only runs set it, for their sub-agents. @default none */
  parent: ParentRun.optional(),
  /** The conversation that the run continues, by reference. Only sessions set it, for their runs. @default none */
  inherits: Conversation.optional(),
  /** Thresholds of continue-as-new. */
  bounds: RunBounds.optional(),
  /** Signature of this input by the owner of the embedded server, from `perdure sign`. The clients of this package add it. @default none */
  auth: z.string().max(AUTH_LIMITS.signatureCharsMax).optional(),
});
export type RunInput = z.infer<typeof RunInput>;

/** Why a run ended. `max_tokens`: the model cut its last answer. `budget`: the run reached `maxTokens` or `maxCostUsd`. */
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
 * State of a message to a running agent. `queued` is the only state that is not final. `merged`: the same text was queued right before it.
 * `unconsumed`: the run ended first.
 */
export const SteerState = z.enum(['queued', 'delivered', 'merged', 'expired', 'refused', 'unconsumed']);
export type SteerState = z.infer<typeof SteerState>;

/** Delivery record of one message. */
export const SteerRecord = z.strictObject({
  /** Id of the message. */
  id: z.string(),
  /** `queued`, or one of the final states. */
  state: SteerState,
  /** `delivered`: the turn whose request contains the message. */
  turn: z.number().int().optional(),
  /** `merged`: id of the message with the same text right before it. */
  into: z.string().optional(),
  /** `refused`: the reason. */
  reason: z.string().optional(),
});
export type SteerRecord = z.infer<typeof SteerRecord>;

/** Result of a run, whatever the reason of its end. */
export const RunResult = z.strictObject({
  /** Version of the result. */
  v: z.literal(1),
  /** Id of the run, which is its workflow id. */
  runId: z.string(),
  /** Temporal's run id of the workflow's last execution. A run that continues as new has several. */
  executionId: z.string(),
  /** Why the run ended. */
  reason: Reason,
  /** Text of the last answer. */
  output: z.string(),
  /** JSON of the last answer, when the run has an `outputSchema` and the answer matches it. */
  structured: JsonValue.optional(),
  /** Turns that were taken. */
  turns: z.number().int(),
  /** Tool calls that were started. */
  toolCalls: z.number().int(),
  /** Usage of all model calls. */
  usage: Usage,
  /** Usage of the last model call. */
  lastUsage: Usage.optional(),
  /** Cost in USD. Absent when a price is unknown. */
  costUsd: z.number().optional(),
  /** Models that answered, in the order of their first answers. */
  models: z.array(z.string()),
  /** Calls, usage and cost of each model. Absent for runs without a model call and for runs of older versions. */
  byModel: z.array(ModelSpending).optional(),
  /** The newest 100 changes of model. */
  switches: z.array(ModelSwitch).optional(),
  /** Fraction of all input tokens that was read from a provider's cache, 0 to 1. */
  cachedShare: z.number().optional(),
  /** True when part of the usage is an estimate: a server reported no plausible usage, or an answer was lost. */
  usageEstimated: z.boolean().optional(),
  /** Messages that were accepted but not delivered before the end. */
  unconsumed: z.array(z.strictObject({ id: z.string(), text: z.string() })),
  /** The agents that worked on the run, in order. Absent for a run without a handoff. */
  agents: z.array(z.string()).optional(),
  /** True when `unconsumed` is cut to the size of a result, or unknown because no worker answered. Query `unread` has all messages. */
  unconsumedCut: z.boolean().optional(),
  /** Delivery records of the last 200 messages. Absent without messages. */
  steers: z.array(SteerRecord).optional(),
  /** Ids of the newest 50 calls whose outcome is unknown: they may have taken effect. Absent when there are none. */
  unknownOutcomes: z.array(z.string()).optional(),
  /** The newest 100 sub-agents of the run. `usage` and `costUsd` of the run include theirs. Absent when there were none. */
  subagents: z.array(EndedSubagent).optional(),
  /** The completions for MCP servers. `usage` and `costUsd` of the run include theirs. Absent when there were none. */
  sampled: SamplingTotals.optional(),
  /** The conversation up to the end of this run, by reference. Only runs of a session have it. */
  conversation: Conversation.optional(),
  /** After a limit: true when the reserved final call wrote `output`. Otherwise `output` is the last text before the limit. */
  finalized: z.boolean().optional(),
  /** True when the last answer was empty, even after a correction. */
  emptyAnswer: z.boolean().optional(),
  /** The failure, when `reason` is `error`. */
  error: z.strictObject({ type: z.string(), message: z.string(), turn: z.number().int() }).optional(),
});
export type RunResult = z.infer<typeof RunResult>;

/** Status of a run. The status of a closed run is its reason. */
export const RunStatus = z.enum(['running', 'paused', 'waiting', ...Reason.options]);
export type RunStatus = z.infer<typeof RunStatus>;

/** Result of query `progress`, and of update `extend`. */
export interface Progress {
  /** `running`, `paused`, `waiting`, or the reason of the end. */
  readonly status: RunStatus;
  /** Current step of the run. */
  readonly phase: 'preparing' | 'model' | 'tools' | 'compacting' | 'finalising' | 'waiting' | 'closed';
  /** Cause of the wait, when the run is waiting. */
  readonly waitingFor?: string;
  /** The current turn; of a closed run the last one. */
  readonly turn: number;
  /** The turn limit. */
  readonly maxTurns: number;
  /** Title of the running tool call. */
  readonly tool?: string;
  /** Title of the last tool call, also after it ended. Absent before the first one. */
  readonly lastTool?: string;
  /** Number of calls whose outcome is unknown, at most 50. Absent when there are none. */
  readonly unknownOutcomes?: number;
  /** Usage of all model calls so far. */
  readonly usage: Usage;
  /** Cost so far in USD. Absent when a price is unknown. */
  readonly costUsd?: number;
  /** The limits besides that of turns, with all extensions, and the working time so far. Absent without any. */
  readonly limits?: { maxTokens?: number; maxCostUsd?: number; deadlineMs?: number; workedMs?: number };
  /** Number of queued messages. */
  readonly inbox: number;
  /** Number of pending approvals, a request for more budget included. */
  readonly pendingApprovals: number;
  /** Number of questions that wait for an answer. Absent when there are none. */
  readonly pendingQuestions?: number;
  /** The sub-agents: those at work, then the newest that ended, with a reason. Absent when there are none. */
  readonly subagents?: readonly SubagentProgress[];
  /** The last intervention of a guard: a warning, a block, a compaction, a correction. */
  readonly lastDecision?: string;
  /** Name of the agent at work. */
  readonly agent: string;
  /** The agents that worked on the run, in order. Absent for a run without a handoff. */
  readonly agents?: readonly string[];
  /** The current model. */
  readonly model: string;
  /** Models, or keys of them, that are cooling down. Absent when there are none. */
  readonly cooling?: readonly CoolingModel[];
}

/** A sub-agent in the progress of a run. */
export interface SubagentProgress {
  /** Id of its run. */
  readonly runId: string;
  /** Name of its agent. */
  readonly agent: string;
  /** Why it ended. Absent while it is at work. */
  readonly reason?: string;
}

/** A model, or one key of it, that is cooling down after a failure. */
export interface CoolingModel {
  /** `provider/model` */
  readonly model: string;
  /** Reference of the key. Absent when the cooldown concerns all keys. */
  readonly credential?: string;
  /** End of the cooldown, ISO 8601. */
  readonly until: string;
  /** Type of the failure. */
  readonly why: string;
}

/** Result of update `submit`. */
export interface Receipt {
  /** Id of the message: yours, or a generated one. */
  readonly id: string;
  /** True when the message is queued. */
  readonly accepted: boolean;
  /** Position in the queue, from 0. */
  readonly position: number;
  /** True when a message with this id was accepted before. */
  readonly duplicate: boolean;
}

/** When a message is delivered: one of STEER_MODES. */
export const SteerMode = z.enum(STEER_MODES);
export type SteerMode = z.infer<typeof SteerMode>;

/** Argument of signal `steer` and of update `submit`: a message to a running agent. */
export interface SteerInput {
  /** Id of the message, for idempotency: the same id twice is one message. @default generated */
  readonly id?: string;
  /** Text of the message. A first line `/model PROVIDER/MODEL` or `/think LEVEL` is a command: it is applied, not sent to the model. */
  readonly text: string;
  /**
   * `boundary` delivers before the next request. `preempt` also skips calls that were not started. `interrupt` also aborts the running
   * model call. @default `boundary`
   */
  readonly mode?: SteerMode;
  /** An undelivered message expires after this time, in milliseconds: 1 s to 30 days. @default never */
  readonly ttlMs?: number;
}

/** Argument of signal `hold`. */
export interface HoldInput {
  /** Longest hold, in milliseconds: 1 s to a day. A second hold sets a new end. @default 10 minutes */
  readonly ttlMs?: number;
  /** Your name, as other operators see it. */
  readonly by?: string;
}

/** Argument of update `extend`. Each amount is added to the current limit. */
export interface ExtendInput {
  /** Turns to add. */
  readonly turns?: number;
  /** USD to add to the cost limit. */
  readonly costUsd?: number;
  /** Tokens to add to the token limit. */
  readonly tokens?: number;
  /** Working time to add, in milliseconds. */
  readonly deadlineMs?: number;
}
