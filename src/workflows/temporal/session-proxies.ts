import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { SESSION_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';

const timeouts = { startToCloseTimeout: SESSION_LIMITS.checkTimeoutMs };
const copyTimeouts = {
  startToCloseTimeout: SESSION_LIMITS.copyTimeoutMs + TOOL_LIMITS.timeoutMarginMs,
  heartbeatTimeout: WORKER_LIMITS.heartbeatTimeoutMs,
};

const {
  prepareSession: prepareActivity,
  checkMessages: checkActivity,
  copyConversation: copyActivity,
} = proxyActivities<AgentActivities>(timeouts);

/** Captures the options of a session. Repeated until it succeeds. */
export function prepareSession(input: Parameters<AgentActivities['prepareSession']>[0]): ReturnType<AgentActivities['prepareSession']> {
  return prepareActivity.executeWithOptions({ ...timeouts, summary: `prepare session ${input.input.key}` }, [input]);
}

/** Checks the signatures of messages. Repeated until it succeeds. */
export function checkMessages(input: Parameters<AgentActivities['checkMessages']>[0]): ReturnType<AgentActivities['checkMessages']> {
  const summary = `check the signatures of ${input.messages.length} messages`;
  return checkActivity.executeWithOptions({ ...timeouts, summary }, [input]);
}

/** Reads the conversation of a session, for a run that keeps it from now on. It only reads, so a lost worker is replaced by another one. */
export function copyConversation(
  input: Parameters<AgentActivities['copyConversation']>[0],
): ReturnType<AgentActivities['copyConversation']> {
  const summary = `read the conversation of ${input.inherits?.runs ?? 0} earlier runs`;
  return copyActivity.executeWithOptions({ ...copyTimeouts, summary }, [input]);
}
