import { z } from 'zod';
import { JsonValue } from './message.js';
import type { AnsweredQuestion, PendingQuestion } from './question.js';

/** A tool call that is waiting for approval. */
export const PendingApproval = z.strictObject({
  /** Id of the call; `budget` when the run asks for more budget. */
  callId: z.string(),
  /** Name of the tool. */
  tool: z.string(),
  /** One line that describes the call. */
  title: z.string(),
  /** Arguments of the call. */
  args: JsonValue,
  /** Hash of tool, arguments and workspace. A decision is valid for this hash only. */
  hash: z.string(),
  /** Source of the request: `gate`, `tool` (its own `approval`), `failover`, or `budget`. */
  askedBy: z.string(),
  /** Reason of the request. */
  reason: z.string().optional(),
  /** Turn of the call. */
  turn: z.number().int(),
  /** Start of the wait, ISO 8601. */
  since: z.string(),
  /** End of the wait, ISO 8601. The call is denied then. */
  expires: z.string().optional(),
});
export type PendingApproval = z.infer<typeof PendingApproval>;

/** A decision on an approval. It is kept, so that a second decision returns the first one. */
export const DecidedApproval = z.strictObject({
  /** Id of the call. */
  callId: z.string(),
  /** Name of the tool. */
  tool: z.string(),
  /** Hash of tool, arguments and workspace. */
  hash: z.string(),
  /** `approved` and `denied` are decisions, `expired` a timeout, `cancelled` the end of the run. */
  decision: z.enum(['approved', 'denied', 'expired', 'cancelled']),
  /** Name of the person or system that decided. */
  by: z.string(),
  /** Time of the decision, ISO 8601. */
  at: z.string(),
  /** Reason that was given with the decision. */
  reason: z.string().optional(),
});
export type DecidedApproval = z.infer<typeof DecidedApproval>;

/** Result of query `approvals`. */
export interface ApprovalList {
  /** Approvals that are waiting for a decision. */
  readonly pending: readonly PendingApproval[];
  /** The newest 200 decisions. */
  readonly decided: readonly DecidedApproval[];
  /** Questions that are waiting for an answer. Absent when there are none. */
  readonly questions?: readonly PendingQuestion[];
  /** The newest 20 ended questions. Absent when there are none. */
  readonly answered?: readonly AnsweredQuestion[];
}

/** Argument of update `approve`. */
export interface ApproveInput {
  /** Id of the pending call. */
  readonly callId: string;
  /** Your name, as other operators see it. */
  readonly by?: string;
}

/** Argument of update `deny`. */
export interface DenyInput {
  /** Id of the pending call or question; `budget` denies a request for more budget. */
  readonly callId: string;
  /** Your name, as the model and other operators see it. */
  readonly by?: string;
  /** Reason that the model sees. */
  readonly reason?: string;
}
