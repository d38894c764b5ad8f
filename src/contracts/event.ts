import type { Usage } from './schemas/model.js';
import type { Reason, RunResult } from './schemas/run.js';

/** What happened in a run, in order. `seq` counts from 1 over the whole run, also over continue-as-new. */
export type RunEvent = { readonly seq: number; readonly at: number } & RunEventBody;

/** One event without its place in the order. */
export type RunEventBody =
  | { type: 'run.started'; agent: string; model: string; maxTurns: number }
  | { type: 'turn.started'; turn: number }
  | {
      type: 'model.completed';
      turn: number;
      model: string;
      stop: string;
      usage: Usage;
      /** The server reported no usage that makes sense. */
      usageEstimated?: boolean;
      /** Absent while the model's price is unknown. */
      costUsd?: number;
      /** The provider's name for the request. */
      requestId?: string;
      text: string;
    }
  | { type: 'model.switched'; turn: number; from: string; to: string; why: string }
  | { type: 'model.cooling'; turn: number; model: string; credential?: string; why: string; until: string }
  | { type: 'model.failed'; turn: number; model?: string; failure: string; message: string; requestId?: string }
  | { type: 'tool.call'; turn: number; callId: string; tool: string; title: string; effect: string }
  | { type: 'tool.result'; turn: number; callId: string; isError: boolean; outcome: string; durationMs: number; bytes: number }
  | { type: 'turn.ended'; turn: number }
  | { type: 'steer.accepted'; id: string; position: number }
  | { type: 'steer.delivered'; id: string; turn: number }
  | { type: 'steer.merged'; id: string; into: string }
  | { type: 'steer.expired'; id: string }
  | { type: 'steer.refused'; id: string; reason: string }
  | { type: 'steer.unconsumed'; id: string }
  | { type: 'model.interrupted'; turn: number; by: string }
  | { type: 'loop.detected'; turn: number; pattern: string; count: number; action: 'nudge' | 'block' | 'stop' }
  | { type: 'answer.corrected'; turn: number; why: string; attempt: number; text: string }
  | { type: 'tool.blocked'; turn: number; callId: string; tool: string; by: string; reason: string }
  | { type: 'tool.remembered'; turn: number; callId: string; tool: string; of: string }
  | { type: 'hook.decided'; turn: number; on: string; action: string; reason: string }
  | {
      type: 'approval.asked';
      turn: number;
      callId: string;
      tool: string;
      title: string;
      /** The beginning of the arguments, as JSON. */
      args?: string;
      by: string;
      reason: string;
      expires?: string;
    }
  | { type: 'approval.decided'; callId: string; tool: string; decision: string; by: string; reason?: string }
  | {
      type: 'compacted';
      turn: number;
      strategy: string;
      why: string;
      messagesBefore: number;
      messagesAfter: number;
      tokensBefore: number;
      tokensAfter: number;
      /** How it came about, when that was not as planned. */
      note?: string;
    }
  | { type: 'compaction.failed'; turn: number; strategy: string; message: string }
  | { type: 'budget.reached'; turn: number; action: 'finish' | 'ask'; limit: string }
  | { type: 'notice'; text: string }
  | { type: 'held'; by: string; until: string }
  | { type: 'released'; why: 'release' | 'expired' | 'stopped' }
  | { type: 'finalise.warned'; turn: number; remaining: number }
  | { type: 'recovered'; turn: number; what: string; count: number }
  | { type: 'worker.lost'; turn: number; activity: string; losses: number }
  | { type: 'waiting'; for: string }
  | { type: 'paused' }
  | { type: 'resumed' }
  | { type: 'extended'; maxTurns: number }
  | { type: 'cancel.requested'; reason: string }
  | { type: 'continued'; executionId: string }
  | { type: 'run.ended'; reason: Reason; turns: number; error?: NonNullable<RunResult['error']> };

/** Query `events({after, types?})`: `first` is the oldest one still kept, so it tells what was dropped. */
export interface EventPage {
  readonly first: number;
  readonly next: number;
  readonly events: readonly RunEvent[];
}
