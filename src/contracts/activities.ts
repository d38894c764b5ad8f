import type { ChainHead } from './digest.js';
import type { CallDecision } from './schemas/carried-state.js';
import type { JsonValue, Message } from './schemas/message.js';
import type { StopReason, ThinkingOutput, ThinkingSetting, ToolChoice, Usage } from './schemas/model.js';
import type { ModelCandidate, ModelTimes } from './schemas/model-route.js';
import type { KeptPart } from './schemas/policy.js';
import type { PreparedRun } from './schemas/prepared-run.js';
import type { RunInput } from './schemas/run.js';
import type { Effect } from './schemas/tool.js';

export type { PreparedRun, RunSetup } from './schemas/prepared-run.js';

/** One message of the tail: by hash when an activity returned it, whole when the workflow wrote it. */
export type TailItem = { readonly hash: string } | { readonly message: Message };

/** A transcript by reference: the previous call's head, what came since, and the digest that must come out. */
export interface TranscriptRef {
  readonly runId: string;
  readonly executionId: string;
  readonly base: ChainHead;
  readonly tail: readonly TailItem[];
  readonly digest: string;
}

/** What one model call needs. Never the transcript itself. */
export interface CallModelInput extends TranscriptRef {
  readonly turn: number;
  readonly model: string;
  readonly setupHash: string;
  /** Messages of this request only: never stored (the finalise warning). */
  readonly requestOnly: readonly Message[];
  readonly toolChoice: ToolChoice;
  readonly outputTokensMax?: number;
  /** Thinking longer than this without text or a call ends the attempt with `Model.ThinkingBudget`. */
  readonly thinkingTokensMax?: number;
  /** The reference of the key to use, where a provider has several; absent: its first usable one. */
  readonly credential?: string;
  readonly thinking?: ThinkingSetting;
  /** @default apart */
  readonly thinkingOutput?: ThinkingOutput;
  readonly cacheKey?: string;
  /** For an agent that is a child process: where it works. */
  readonly workspace?: string;
  readonly times?: ModelTimes;
  /** There is another model or key: one that this worker knows to be cooling down is not asked at all. */
  readonly hasAlternative?: boolean;
  /** Marks the reserved final call: its answer gets an id of its own. */
  readonly final?: boolean;
}

/** What a model call gives: an answer, or what there was of it when a user's cancel came. */
export type CallModelResult =
  | {
      readonly kind: 'answer';
      readonly message: Message;
      readonly hash: string;
      readonly usage: Usage;
      readonly usageEstimated?: boolean;
      /** What attempts before this one had used when they failed in the midst of their answers; absent: nothing. */
      readonly lost?: Usage;
      readonly stop: StopReason;
      readonly requestId?: string;
      /** Calls whose arguments were almost JSON and were put right; absent: none. */
      readonly repaired?: number;
    }
  | { readonly kind: 'interrupted'; readonly partial?: { readonly message: Message; readonly hash: string }; readonly usage: Usage };

/** What `resolveModel` is asked: may this run go on with another model, and what is to be known of it? */
export interface ResolveModelInput {
  readonly runId: string;
  /** `provider/model`, or a bare id. */
  readonly model: string;
  readonly thinking?: ThinkingSetting;
  /** What the model before it was told, where nothing new is asked for: mapped to what this one has. */
  readonly thinkingBefore?: ThinkingSetting;
  /** The run has a money cap, which a model of unknown price cannot keep. */
  readonly needsPrice?: boolean;
}

/** The model, or one line that says why not. */
export type ResolveModelResult = { readonly candidate: ModelCandidate } | { readonly problem: string };

/** What one tool call needs. */
export interface CallToolInput {
  readonly runId: string;
  /** For hooks; absent in calls of runs that an older worker began. */
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
  /** How much of the output the model reads; absent: the numbers of limits.ts. */
  readonly output?: OutputBoundsInput;
  /** There is no such tool: nothing runs, and this is what the hooks after a tool, then the model, read. */
  readonly unknownTool?: string;
}

/** Bounds of one tool output, made by the workflow from the run's policy and the model's window. */
export interface OutputBoundsInput {
  readonly bytesMax: number;
  readonly linesMax: number;
  readonly charsMax: number;
  readonly keep: KeptPart;
  readonly exact?: { readonly above: number; readonly head: number; readonly tail: number };
}

/** How a tool call ended. `unknown`: it was started and nobody knows how it ended. */
export type ToolOutcome = 'ok' | 'failed' | 'timeout' | 'cancelled' | 'unknown';

/** The one result of a tool call, as the message the model will read. */
export interface CallToolResult {
  readonly message: Message;
  readonly hash: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
  /** A hook after the tool wants the run to end, with this reason. */
  readonly abort?: string;
}

/** What `checkTool` is asked before a call runs. `asked`: the run's own gate already said that a person decides. */
export interface CheckToolInput {
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonValue;
  readonly workspace?: string;
  readonly asked: boolean;
  /** The agent's gate is a function: where it is missing nothing runs. */
  readonly gated?: boolean;
  /** The tool had an approval when the run began. */
  readonly approval?: boolean;
}

/** What a hook outside a call is asked about. */
export interface RunHooksInput {
  readonly on: 'before-run' | 'after-run' | 'error';
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  /** after-run: the answer. */
  readonly output?: string;
  readonly error?: { readonly type: string; readonly message: string };
}

/** What it decided. `modify` of after-run rewrites the output; of error, the message that the caller reads. */
export type RunHooksResult =
  | { readonly action: 'allow' }
  | { readonly action: 'modify'; readonly output: string }
  | { readonly action: 'block' | 'abort'; readonly hook: string; readonly reason: string };

/** What `acceptAnswer` is asked: may this answer end the run? */
export interface AcceptAnswerInput extends TranscriptRef {
  readonly agent: string;
  readonly turn: number;
  readonly text: string;
  readonly outputSchema?: Readonly<Record<string, JsonValue>>;
  /** The agent has a `completionGate` of its own. */
  readonly gate: boolean;
  readonly workspace?: string;
}

/** Yes, with the JSON that the schema asked for; or no, with what the model is told. */
export type AcceptAnswerResult =
  | { readonly accept: true; readonly structured?: JsonValue }
  | { readonly accept: false; readonly by: 'schema' | 'gate'; readonly correction: string };

/** What `compact` is asked: replace the messages `from` to `to` (exclusive) by something shorter. */
export interface CompactInput extends TranscriptRef {
  /** For hooks. */
  readonly agent?: string;
  readonly turn: number;
  readonly strategy: 'summary' | 'custom';
  readonly model: string;
  /** The reference of the key to use, where a provider has several; absent: its first usable one. */
  readonly credential?: string;
  readonly setupHash: string;
  readonly from: number;
  readonly to: number;
  /** Estimated tokens that the replacement may have. */
  readonly tokensMax: number;
}

/** The replacement, which its worker has cached, and what it cost. `note`: how it came about, for the event. */
export interface CompactResult {
  readonly messages: readonly { readonly message: Message; readonly hash: string }[];
  readonly usage: Usage;
  readonly note?: string;
}

/** What reconciling found out about a call whose worker died. Only `not_started` allows another start. */
export type ReconcileResult =
  | { readonly kind: 'done'; readonly result: CallToolResult }
  | { readonly kind: 'not_started' }
  | { readonly kind: 'unknown' };

/**
 * The activities of a run. Contract: each may be retried by Temporal on the failures that failures.ts calls retryable;
 * on a user's cancel `callModel` and `callTool` return, they do not throw; each heartbeats from entry to exit.
 */
export interface AgentActivities {
  readonly prepareRun: (input: { readonly runId: string; readonly input: RunInput }) => Promise<PreparedRun>;
  readonly callModel: (input: CallModelInput) => Promise<CallModelResult>;
  readonly callTool: (input: CallToolInput) => Promise<CallToolResult>;
  readonly reconcileTool: (input: CallToolInput) => Promise<ReconcileResult>;
  readonly checkTool: (input: CheckToolInput) => Promise<CallDecision>;
  readonly runHooks: (input: RunHooksInput) => Promise<RunHooksResult>;
  readonly acceptAnswer: (input: AcceptAnswerInput) => Promise<AcceptAnswerResult>;
  readonly compact: (input: CompactInput) => Promise<CompactResult>;
  readonly resolveModel: (input: ResolveModelInput) => Promise<ResolveModelResult>;
}

/** Heartbeat details, shown under Pending Activities in the Web UI (≤ 1 KiB). */
export interface HeartbeatDetails {
  readonly phase: string;
  readonly elapsedMs: number;
  readonly tokens?: number;
  readonly lastText?: string;
}
