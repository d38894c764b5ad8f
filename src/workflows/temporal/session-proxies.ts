import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { SCHEDULE_LIMITS, SESSION_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';

const timeouts = { startToCloseTimeout: SESSION_LIMITS.checkTimeoutMs };
const copyTimeouts = {
  startToCloseTimeout: SESSION_LIMITS.copyTimeoutMs + TOOL_LIMITS.timeoutMarginMs,
  heartbeatTimeout: WORKER_LIMITS.heartbeatTimeoutMs,
};

const {
  prepareSession: prepareActivity,
  checkMessages: checkActivity,
  copyConversation: copyActivity,
  sendScheduled: sendActivity,
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

/** Sends the message of a schedule to its session. Repeated until it succeeds: the same message twice is one. */
export function sendScheduled(input: Parameters<AgentActivities['sendScheduled']>[0]): ReturnType<AgentActivities['sendScheduled']> {
  const options = { startToCloseTimeout: SCHEDULE_LIMITS.sendTimeoutMs, summary: `send message ${input.firing}` };
  return sendActivity.executeWithOptions(options, [input]);
}
