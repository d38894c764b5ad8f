import type { ChainHead } from './digest.js';
import type { CallDecision } from './schemas/carried-state.js';
import type { Conversation } from './schemas/conversation.js';
import type { AskTenantInput, CheckTenantInput, CheckTenantResult, RunChain } from './schemas/ledger.js';
import type { JsonValue, Message } from './schemas/message.js';
import type { StopReason, ThinkingOutput, ThinkingSetting, ToolChoice, Usage } from './schemas/model.js';
import type { ModelCandidate, ModelTimes } from './schemas/model-route.js';
import type { KeptPart } from './schemas/policy.js';
import type { ListToolsInput, ListToolsResult, PreparedRun, ToolList } from './schemas/prepared-run.js';
import type { RunInput, RunResult } from './schemas/run.js';
import type { SamplingBounds } from './schemas/sampling.js';
import type { SessionActivities } from './schemas/session.js';
import type { AwaitRunInput } from './schemas/subagent.js';
import type { Effect, ToolOutcome } from './schemas/tool.js';
import type { CheckSignatureInput, CheckSignatureResult, SignedRequest } from './signature.js';

export type { HeartbeatDetails, StoppedDetails } from './schemas/heartbeat.js';
export type { PreparedRun, RunSetup } from './schemas/prepared-run.js';
export type { ToolOutcome } from './schemas/tool.js';

/** One message of the tail: by hash when an activity returned it, by value when the workflow wrote it. */
export type TailItem = { readonly hash: string } | { readonly message: Message };

/** A transcript by reference: the head of the previous call, the messages since then, and the digest of the whole. */
export interface TranscriptRef {
  readonly runId: string;
  readonly executionId: string;
  readonly base: ChainHead;
  readonly tail: readonly TailItem[];
  readonly digest: string;
  /** The conversation that the transcript begins with. Its messages are in the transcripts of earlier runs. */
  readonly inherits?: Conversation;
}

/** Input of activity `prepareRun`. */
export interface PrepareRunInput {
  readonly runId: string;
  readonly input: RunInput;
  /** What the run's workflow code can do: the policy asks for no more. @default that of the last build without levels */
  readonly level?: number;
  /** When the run was started, ISO 8601, and the id of its first execution. Absent of workflow code before level 3. */
  readonly started?: { readonly at: string; readonly executionId: string };
  readonly waitsForRoom?: boolean;
  /** A run that is handed over. `from`: the agent whose gate applies to an agent without one. @default the run starts */
  readonly handoff?: { readonly from: string };
}

/** Input of activity `callModel`. The transcript is passed by reference. */
export interface CallModelInput extends TranscriptRef {
  readonly turn: number;
  readonly model: string;
  readonly setupHash: string;
  /** Messages of this request only, such as the warning before a limit. They are not stored. */
  readonly requestOnly: readonly Message[];
  readonly toolChoice: ToolChoice;
  readonly outputTokensMax?: number;
  /** Tokens of thinking without text or call. More end the attempt with `Model.ThinkingBudget`. */
  readonly thinkingTokensMax?: number;
  /** Reference of the key, for a provider with several keys. @default its first usable key */
  readonly credential?: string;
  readonly thinking?: ThinkingSetting;
  /** How streams show thinking. @default apart */
  readonly thinkingOutput?: ThinkingOutput;
  readonly cacheKey?: string;
  /** Workspace of an agent that is a child process. */
  readonly workspace?: string;
  readonly times?: ModelTimes;
  /** Another model or key is available, so a model that cools down on this worker is not asked. */
  readonly hasAlternative?: boolean;
  /** Part of the time limit for the wait for a place at the provider. @default none: a wait counts as time of the model */
  readonly waitMsMax?: number;
  /** Marks the reserved final call, whose answer has its own message id. */
  readonly final?: boolean;
  readonly waitsForRoom?: boolean;
  /** A completion for an MCP server: `requestOnly` has all its messages, and it gets neither the transcript nor the run's prompt and tools. */
  readonly sampling?: { readonly system: string; readonly temperature?: number };
}

/** Result of activity `callModel`: an answer, or the partial answer at the time of a cancel. */
export type CallModelResult =
  | {
      readonly kind: 'answer';
      readonly message: Message;
      readonly hash: string;
      readonly usage: Usage;
      readonly usageEstimated?: boolean;
      /** Usage of earlier attempts that failed during their answers. Absent when there is none. */
      readonly lost?: Usage;
      readonly stop: StopReason;
      readonly requestId?: string;
      /** Number of calls whose arguments were repaired to valid JSON. Absent when there are none. */
      readonly repaired?: number;
    }
  | { readonly kind: 'interrupted'; readonly partial?: { readonly message: Message; readonly hash: string }; readonly usage: Usage };

/** Input of activity `resolveModel`, which checks a model that a message requested and looks up its facts. */
export interface ResolveModelInput {
  readonly runId: string;
  /** `provider/model`, or a bare id. */
  readonly model: string;
  readonly thinking?: ThinkingSetting;
  /** Thinking of the model before it, mapped to this model when `thinking` is absent. */
  readonly thinkingBefore?: ThinkingSetting;
  /** The run has a cost limit, which needs a known price. */
  readonly needsPrice?: boolean;
}

/** The model, or one line with the reason of the refusal. */
export type ResolveModelResult = { readonly candidate: ModelCandidate } | { readonly problem: string };

/** Input of activity `callTool`. */
export interface CallToolInput {
  readonly runId: string;
  /** For hooks. Absent in runs that an older worker started. */
  readonly agent?: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
  readonly argsText?: string;
  readonly key: string;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly workspace?: string;
  /** Limits of the output that the model sees. @default the numbers of limits.ts */
  readonly output?: OutputBoundsInput;
  /** Error text for a tool that does not exist. Nothing runs; hooks after tools and the model see this text. */
  readonly unknownTool?: string;
  /** On a full disk, the call fails with `Worker.DiskFull` before it starts, and the run waits. @default false, as in older workflow code */
  readonly waitsForRoom?: boolean;
  /** The call may ask the person of the run, who has this time for each answer. @default it cannot ask */
  readonly asks?: { readonly expireMs: number };
  /** The call may request completions of the run, within these limits. @default it cannot */
  readonly samples?: SamplingBounds;
}

/** Limits of one tool output, computed by the workflow from the policy and the model's window. */
export interface OutputBoundsInput {
  readonly bytesMax: number;
  readonly linesMax: number;
  readonly charsMax: number;
  readonly keep: KeptPart;
  readonly exact?: { readonly above: number; readonly head: number; readonly tail: number };
}

/** Result of activity `callTool`: the message that the model sees. */
export interface CallToolResult {
  readonly message: Message;
  readonly hash: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  /** The present tools of the MCP server that was called. */
  readonly toolList?: ToolList;
  /** A hook after the tool aborts the run, with this reason. */
  readonly abort?: string;
}

/** Input of activity `checkTool`, which runs before a call. `asked`: the gate of the policy already requires approval. */
export interface CheckToolInput {
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonValue;
  readonly workspace?: string;
  readonly asked: boolean;
  /** The agent whose gate function applies. @default `agent` */
  readonly gateAgent?: string;
  /** The agent's gate is a function. A worker without it blocks the call. */
  readonly gated?: boolean;
  /** The tool had an `approval` when the run started. */
  readonly approval?: boolean;
}

/** Input of activity `runHooks`, for hooks outside of calls. */
export interface RunHooksInput {
  readonly on: 'before-run' | 'after-run' | 'error';
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  /** after-run: text of the answer. */
  readonly output?: string;
  readonly error?: { readonly type: string; readonly message: string };
}

/** Result of activity `runHooks`. `modify` replaces the output (after-run) or the error message (error). */
export type RunHooksResult =
  | { readonly action: 'allow' }
  | { readonly action: 'modify'; readonly output: string }
  | { readonly action: 'block' | 'abort'; readonly hook: string; readonly reason: string };

/** Input of activity `acceptAnswer`, which validates an answer before it ends the run. */
export interface AcceptAnswerInput extends TranscriptRef {
  readonly agent: string;
  readonly turn: number;
  readonly text: string;
  readonly outputSchema?: Readonly<Record<string, JsonValue>>;
  /** The agent has a `completionGate` function. */
  readonly gate: boolean;
  readonly workspace?: string;
}

/** Accepted, with the JSON that matches the schema; or rejected, with the correction for the model. */
export type AcceptAnswerResult =
  | { readonly accept: true; readonly structured?: JsonValue }
  | { readonly accept: false; readonly by: 'schema' | 'gate'; readonly correction: string };

/** Input of activity `compact`: replace the messages `from` to `to` (exclusive) by shorter ones. */
export interface CompactInput extends TranscriptRef {
  /** For hooks. */
  readonly agent?: string;
  readonly turn: number;
  readonly strategy: 'summary' | 'custom';
  readonly model: string;
  /** Reference of the key, for a provider with several keys. @default its first usable key */
  readonly credential?: string;
  readonly setupHash: string;
  readonly from: number;
  readonly to: number;
  /** Estimated tokens that the replacement may have. */
  readonly tokensMax: number;
}

/** The replacement, which the worker has cached, and its usage. `note`: a deviation from the plan, for the event. */
export interface CompactResult {
  readonly messages: readonly { readonly message: Message; readonly hash: string }[];
  readonly usage: Usage;
  readonly note?: string;
}

/** Input of activity `recallResult`, which asks the host of a lost tool call for its result. */
export interface RecallResultInput {
  readonly runId: string;
  readonly turn: number;
  /** The idempotency key of the call. */
  readonly key: string;
}

/**
 * The state of a lost tool call on its host. `running`: the worker still waits for the tool. `stopped`: the tool ended without a result.
 * `unknown`: this worker has not run the call, or not since its start.
 */
export type RecallResult =
  | { readonly kind: 'done'; readonly result: CallToolResult }
  | { readonly kind: 'running'; readonly elapsedMs: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'unknown' };

/** How a sub-agent ended: with its result, or without one, because its workflow was ended from outside. */
export type AwaitRunResult = { readonly kind: 'ended'; readonly result: RunResult } | { readonly kind: 'lost'; readonly why: string };

/** State of a call whose worker was lost, as `reconcile` found it. Only `not_started` allows another start. */
export type ReconcileResult =
  | { readonly kind: 'done'; readonly result: CallToolResult }
  | { readonly kind: 'not_started' }
  | { readonly kind: 'unknown' };

/**
 * The activities of a run.
 *
 * Contract: Temporal may retry each one after a failure that failures.ts marks as retryable. After a cancel `callModel` and `callTool`
 * return; they do not throw. Each one heartbeats from start to end, except the short ones that only ask the server.
 */
export interface AgentActivities extends SessionActivities {
  readonly prepareRun: (input: PrepareRunInput) => Promise<PreparedRun>;
  readonly callModel: (input: CallModelInput) => Promise<CallModelResult>;
  readonly callTool: (input: CallToolInput) => Promise<CallToolResult>;
  readonly reconcileTool: (input: CallToolInput) => Promise<ReconcileResult>;
  readonly recallResult: (input: RecallResultInput) => Promise<RecallResult>;
  readonly checkTool: (input: CheckToolInput) => Promise<CallDecision>;
  readonly runHooks: (input: RunHooksInput) => Promise<RunHooksResult>;
  readonly acceptAnswer: (input: AcceptAnswerInput) => Promise<AcceptAnswerResult>;
  readonly compact: (input: CompactInput) => Promise<CompactResult>;
  readonly listTools: (input: ListToolsInput) => Promise<ListToolsResult>;
  readonly resolveModel: (input: ResolveModelInput) => Promise<ResolveModelResult>;
  readonly askTenant: (input: AskTenantInput) => Promise<void>;
  readonly checkTenant: (input: CheckTenantInput) => Promise<CheckTenantResult>;
  readonly checkSignature: (input: CheckSignatureInput) => Promise<CheckSignatureResult>;
  /** Signs the start of a sub-agent at a server that asks for signatures. */
  readonly signStart: (input: Pick<SignedRequest, 'runId' | 'input'>) => Promise<{ readonly auth: string }>;
  /** Returns the messages of a reference. */
  readonly copyConversation: (
    ref: TranscriptRef,
  ) => Promise<{ readonly messages: readonly { readonly message: Message; readonly hash: string }[] }>;
  /** Ends the background commands of a run on this host. */
  readonly endCommands: (input: RunChain) => Promise<{ readonly ended: number }>;
  /** Returns when the run has ended. */
  readonly awaitRun: (input: AwaitRunInput) => Promise<AwaitRunResult>;
  /** Returns when the disk of this worker has room again; until then, each attempt fails. */
  readonly awaitRoom: () => Promise<void>;
}
