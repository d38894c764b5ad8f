import { proxyActivities } from '@temporalio/workflow';
import type { AcceptAnswerInput, AcceptAnswerResult, AgentActivities } from '../../../../src/contracts/activities.js';

const { acceptAnswer } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '30 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { maximumAttempts: 1 },
});

/** A workflow that only asks whether an answer may end a run. */
export async function askAcceptance(input: AcceptAnswerInput): Promise<AcceptAnswerResult> {
  return await acceptAnswer(input);
}
