import { z } from 'zod';
import { DecidedApproval } from '../../../contracts/schemas/approval.js';
import { JsonValue } from '../../../contracts/schemas/message.js';
import { nameOf } from '../access/caller.js';
import { defineRoute } from '../routing/route.js';

/** A pending approval as `perdure approvals --json` prints it, with what people read. */
const ApprovalItem = z.object({
  runId: z.string(),
  callId: z.string(),
  tool: z.string(),
  title: z.string(),
  args: JsonValue,
  since: z.string(),
  expires: z.string().optional(),
  reason: z.string().optional(),
});

/** `GET /v1/runs/{id}/approvals`: lists pending approvals. */
export const listApprovals = defineRoute({
  method: 'GET',
  path: '/v1/runs/{id}/approvals',
  right: 'read',
  summary: 'list the pending approvals of a run',
  answers: [{ status: 200, meaning: 'the approvals, oldest first', schema: z.array(ApprovalItem) }],
  async run({ gateway, caller, params: { id } }) {
    const run = await gateway.owners.runOf(caller, id);
    const { open } = await run.describe();
    const pending = open ? (await run.approvals()).pending : [];
    const items = pending.map(({ callId, tool, title, args, since, expires, reason }) => ({
      runId: id,
      callId,
      tool,
      title,
      args,
      since,
      ...(expires === undefined ? {} : { expires }),
      ...(reason === undefined ? {} : { reason }),
    }));
    return { status: 200, body: items };
  },
});

/** `POST /v1/runs/{id}/approvals/{callId}`: decides about a call. */
export const decideApproval = defineRoute({
  method: 'POST',
  path: '/v1/runs/{id}/approvals/{callId}',
  right: 'approve',
  summary: 'approve or deny a pending call; an approved call runs once, with the arguments that were shown',
  body: z.strictObject({
    decision: z.enum(['approve', 'deny']).describe('The decision'),
    reason: z.string().optional().describe('Reason of a denial, which the model sees'),
  }),
  answers: [
    { status: 200, meaning: 'the decision', schema: DecidedApproval },
    { status: 409, meaning: '`ALREADY_DECIDED`, or `RUN_CLOSED`' },
  ],
  async run({ gateway, caller, params: { id, callId }, body: { decision, reason } }) {
    const run = await gateway.owners.runOf(caller, id);
    const by = nameOf(caller);
    const decided =
      decision === 'approve'
        ? await run.approve(callId, { by })
        : await run.deny(callId, { by, ...(reason === undefined ? {} : { reason }) });
    return { status: 200, body: decided };
  },
});
