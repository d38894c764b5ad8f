import { workflowInfo } from '@temporalio/workflow';
import type { ScheduledMessageInput, ScheduledMessageResult } from '../contracts/schemas/session.js';
import { unreadableReason } from '../contracts/verbs/unreadable.js';
import { inputFailure } from './temporal/failures.js';
import { sendScheduled } from './temporal/session-proxies.js';

/**
 * Sends the message of a schedule to a session. A schedule starts it at each of its times, and the session answers the messages one after
 * the other. Fails with `Input.Invalid` for an input that is not valid.
 */
export async function scheduledMessage(input: ScheduledMessageInput): Promise<ScheduledMessageResult> {
  const unreadable = unreadableReason(input);
  if (unreadable !== undefined) throw inputFailure(`BAD_INPUT input: cannot be decoded: ${unreadable}; send it as JSON`);
  const { workflowId, firstExecutionRunId } = workflowInfo();
  return await sendScheduled({ firing: workflowId, executionId: firstExecutionRunId, input });
}
