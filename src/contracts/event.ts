import type { Usage } from './schemas/model.js';
import type { Reason, RunResult } from './schemas/run.js';

/** An event of a run. `seq` counts from 1 over the whole run, also over continue-as-new. `at` is in milliseconds since 1970. */
export type RunEvent = { readonly seq: number; readonly at: number } & RunEventBody;

/** An event without its sequence number and time. */
export type RunEventBody =
  /** The run started. The first event, exactly once. `parent`: the run and the call that delegated this one. */
  | { type: 'run.started'; agent: string; model: string; maxTurns: number; parent?: { runId: string; callId: string } }
  /** A turn started. */
  | { type: 'turn.started'; turn: number }
  /** A model answered. `text` is the beginning of the answer, `requestId` the provider's id of the request. */
  | {
      type: 'model.completed';
      turn: number;
      model: string;
      stop: string;
      usage: Usage;
      /** The server reported no plausible usage. */
      usageEstimated?: boolean;
      /** Absent while the model's price is unknown. */
      costUsd?: number;
      requestId?: string;
      text: string;
    }
  /** The run changed its model. `why`: a failure type, `cooled down`, `asked for` (`/model`), `handoff`, or `budget`. */
  | { type: 'model.switched'; turn: number; from: string; to: string; why: string }
  /** A model, or one key of it, cools down until `until` (ISO 8601). `why` is the failure type. */
  | { type: 'model.cooling'; turn: number; model: string; credential?: string; why: string; until: string }
  /** A model call failed after its attempts. `failure` is the failure type. */
  | { type: 'model.failed'; turn: number; model?: string; failure: string; message: string; requestId?: string }
  /** A tool call started. */
  | { type: 'tool.call'; turn: number; callId: string; tool: string; title: string; effect: string }
  /** A tool call ended, exactly once for each `tool.call`. `outcome`: `ok`, `failed`, `timeout`, `cancelled` or `unknown`. */
  | { type: 'tool.result'; turn: number; callId: string; isError: boolean; outcome: string; durationMs: number; bytes: number }
  /** The call started a sub-agent: run `runId`. `background`: the call returned at once (`wait: false`). */
  | { type: 'subagent.started'; turn: number; callId: string; runId: string; agent: string; background?: boolean }
  /** A sub-agent ended, exactly once for each `subagent.started`. `reason` is that of its result, or `lost`. */
  | { type: 'subagent.ended'; turn: number; callId: string; runId: string; agent: string; reason: string; costUsd?: number }
  /** The result of a sub-agent in the background was delivered to the model. */
  | { type: 'subagent.delivered'; turn: number; callId: string; runId: string }
  /** The conversation was handed to another agent, which continues from the next turn on. */
  | { type: 'handoff'; turn: number; callId: string; from: string; to: string }
  /** From the next turn on, the model is offered other tools of MCP servers. Each list has at most 20 names. */
  | { type: 'tools.changed'; turn: number; added: string[]; removed: string[]; changed: string[] }
  /** A completion for an MCP server ended. `outcome`: `answered`, `refused`, `failed` or `cancelled`. `usage` is what it used in all attempts. */
  | {
      type: 'mcp.sampled';
      turn: number;
      callId: string;
      server: string;
      outcome: string;
      model?: string;
      usage?: Usage;
      /** Absent while the model's price is unknown. */
      costUsd?: number;
      reason?: string;
    }
  /** A turn ended. */
  | { type: 'turn.ended'; turn: number }
  /** A message was queued. */
  | { type: 'steer.accepted'; id: string; position: number }
  /** A message was delivered to the model. */
  | { type: 'steer.delivered'; id: string; turn: number }
  /** A message was merged into the one right before it, which has the same text. */
  | { type: 'steer.merged'; id: string; into: string }
  /** A message expired before its delivery. */
  | { type: 'steer.expired'; id: string }
  /** A message was refused. */
  | { type: 'steer.refused'; id: string; reason: string }
  /** The run ended before the message was delivered. */
  | { type: 'steer.unconsumed'; id: string }
  /** A message aborted the model call. */
  | { type: 'model.interrupted'; turn: number; by: string }
  /**
   * A loop guard intervened. `pattern`: what it found, such as `repeat`, `alternation`, `two-turns`, `ceiling`, `same-result`, `cycle` or
   * `bad-arguments`.
   */
  | { type: 'loop.detected'; turn: number; pattern: string; count: number; action: 'nudge' | 'block' | 'stop' }
  /** An answer was rejected, and the model was corrected. `text` is the beginning of the correction. */
  | { type: 'answer.corrected'; turn: number; why: string; attempt: number; text: string }
  /** A call was blocked by a gate, a hook or the loop guard. */
  | { type: 'tool.blocked'; turn: number; callId: string; tool: string; by: string; reason: string }
  /** A call of a `pure` tool was answered with the result of the earlier call `of`. */
  | { type: 'tool.remembered'; turn: number; callId: string; tool: string; of: string }
  /** A hook `before-run`, `after-run` or `error` returned `modify`, `block` or `abort`. */
  | { type: 'hook.decided'; turn: number; on: string; action: string; reason: string }
  /** A call is waiting for approval. `args` is the beginning of the arguments as JSON. */
  | {
      type: 'approval.asked';
      turn: number;
      callId: string;
      tool: string;
      title: string;
      args?: string;
      by: string;
      reason: string;
      expires?: string;
    }
  /** An approval was decided. `decision`: `approved`, `denied`, `expired` or `cancelled`. */
  | { type: 'approval.decided'; callId: string; tool: string; decision: string; by: string; reason?: string }
  /** A question is waiting for an answer. `question` is the beginning of its text. */
  | {
      type: 'question.asked';
      turn: number;
      callId: string;
      question: string;
      choices?: string[];
      by: string;
      expires: string;
    }
  /** A question ended. `outcome`: `answered`, `declined`, `expired` or `cancelled`. `answer` is the beginning of the answer. */
  | { type: 'question.answered'; callId: string; outcome: string; by: string; answer?: string; reason?: string }
  /** The transcript was compacted. `why`: `soft`, `forced`, `overflow` or `carry`. `note`: a deviation from the plan. */
  | {
      type: 'compacted';
      turn: number;
      strategy: string;
      why: string;
      messagesBefore: number;
      messagesAfter: number;
      tokensBefore: number;
      tokensAfter: number;
      note?: string;
    }
  /** A compaction strategy failed. The next one is tried. */
  | { type: 'compaction.failed'; turn: number; strategy: string; message: string }
  /** The run reached a limit. */
  | { type: 'budget.reached'; turn: number; action: 'finish' | 'ask'; limit: string }
  /** A deviation that operators should see, such as a fallback that was left out. */
  | { type: 'notice'; text: string }
  /** The run is held between turns until `until` (ISO 8601). */
  | { type: 'held'; by: string; until: string }
  /** A hold ended. */
  | { type: 'released'; why: 'release' | 'expired' | 'stopped' }
  /** The request carries the warning that few turns or little time remain. */
  | { type: 'finalise.warned'; turn: number; remaining: number }
  /** The run recovered from a problem. `what` names it, `count` is the number of repairs or of corrections. */
  | { type: 'recovered'; turn: number; what: string; count: number }
  /** A worker was lost during an activity. `losses` counts them for this call. `why`: `died`, `shut down`, `unreachable` or `stopped`. */
  | { type: 'worker.lost'; turn: number; activity: string; losses: number; why?: string }
  /** The run is waiting. `for` names the cause. */
  | { type: 'waiting'; for: string }
  /** The run was paused. */
  | { type: 'paused' }
  /** The run was resumed. */
  | { type: 'resumed' }
  /** A limit was raised, by update `extend` or by `autoExtend`. */
  | { type: 'extended'; maxTurns: number }
  /** A cancel was requested. */
  | { type: 'cancel.requested'; reason: string }
  /** The run continued as new, in a fresh history. */
  | { type: 'continued'; executionId: string }
  /** The run ended. The last event, exactly once. */
  | { type: 'run.ended'; reason: Reason; turns: number; error?: NonNullable<RunResult['error']> };

/** Result of query `events`. */
export interface EventPage {
  /** Sequence number of the oldest event that is kept. Older events were dropped. */
  readonly first: number;
  /** Pass this as `after` to read the next page. */
  readonly next: number;
  /** Events of the page, oldest first. */
  readonly events: readonly RunEvent[];
}
