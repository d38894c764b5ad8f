import { z } from 'zod';
import { JsonValue } from './message.js';

/** A call that waits for a person. `hash` binds the decision to tool, arguments and folder. */
export const PendingApproval = z.strictObject({
  callId: z.string(),
  tool: z.string(),
  title: z.string(),
  args: JsonValue,
  hash: z.string(),
  /** Who asks: the gate, a hook's name, or the tool itself. */
  askedBy: z.string(),
  reason: z.string().optional(),
  turn: z.number().int(),
  /** ISO 8601. */
  since: z.string(),
  expires: z.string().optional(),
});
export type PendingApproval = z.infer<typeof PendingApproval>;

/** How an approval ended; kept, so that a second decision is told what the first was. */
export const DecidedApproval = z.strictObject({
  callId: z.string(),
  tool: z.string(),
  hash: z.string(),
  decision: z.enum(['approved', 'denied', 'expired', 'cancelled']),
  by: z.string(),
  at: z.string(),
  reason: z.string().optional(),
});
export type DecidedApproval = z.infer<typeof DecidedApproval>;

/** Query `approvals`. */
export interface ApprovalList {
  readonly pending: readonly PendingApproval[];
  readonly decided: readonly DecidedApproval[];
}

/** Update `approve`. */
export interface ApproveInput {
  readonly callId: string;
  readonly by?: string;
}

/** Update `deny`. */
export interface DenyInput {
  readonly callId: string;
  readonly by?: string;
  readonly reason?: string;
}
