import type { ChainHead } from './digest.js';
import type { Message } from './message.js';
import type { StopReason, ToolChoice, Usage } from './model.js';
import type { PreparedRun } from './prepared-run.js';
import type { RunInput } from './run.js';
import type { Effect } from './tool.js';

export type { PreparedRun, RunSetup } from './prepared-run.js';

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
      readonly stop: StopReason;
      readonly requestId?: string;
    }
  | { readonly kind: 'interrupted'; readonly partial?: { readonly message: Message; readonly hash: string }; readonly usage: Usage };

/** What one tool call needs. */
export interface CallToolInput {
  readonly runId: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
  readonly argsText?: string;
  readonly key: string;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly workspace?: string;
}

/** How a tool call ended. `unknown`: it was started and nobody knows how it ended. */
export type ToolOutcome = 'ok' | 'failed' | 'timeout' | 'cancelled' | 'unknown';

/** The one result of a tool call, as the message the model will read. */
export interface CallToolResult {
  readonly message: Message;
  readonly hash: string;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
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
}

/** Heartbeat details, shown under Pending Activities in the Web UI (≤ 1 KiB). */
export interface HeartbeatDetails {
  readonly phase: string;
  readonly elapsedMs: number;
  readonly tokens?: number;
  readonly lastText?: string;
}
