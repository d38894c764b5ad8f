import { patched, proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { SCHEDULE_LIMITS, SESSION_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { repeatAfterLoss } from './repeat-after-loss.js';

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
  const options = { ...timeouts, summary: `prepare session ${input.input.key}` };
  return repeatAfterLoss(
    () => prepareActivity.executeWithOptions(options, [input]),
    () => patched(REPEATS_CALLS),
  );
}

/** Checks the signatures of messages. Repeated until it succeeds. */
export function checkMessages(input: Parameters<AgentActivities['checkMessages']>[0]): ReturnType<AgentActivities['checkMessages']> {
  const options = { ...timeouts, summary: `check the signatures of ${input.messages.length} messages` };
  return repeatAfterLoss(
    () => checkActivity.executeWithOptions(options, [input]),
    () => patched(REPEATS_CALLS),
  );
}

/** The first histories ended when a worker was lost in one of these calls: their replay must end too. */
const REPEATS_CALLS = 'repeats-session-calls-after-loss';

/** The first histories went on without the conversation when a worker was lost while it copied it. */
const REPEATS_COPY = 'repeats-copy-after-loss';

/** Reads the conversation of a session, for a run that keeps it from now on. It only reads, so it is repeated after the loss of a worker. */
export function copyConversation(
  input: Parameters<AgentActivities['copyConversation']>[0],
): ReturnType<AgentActivities['copyConversation']> {
  const options = { ...copyTimeouts, summary: `read the conversation of ${input.inherits?.runs ?? 0} earlier runs` };
  return repeatAfterLoss(
    () => copyActivity.executeWithOptions(options, [input]),
    () => patched(REPEATS_COPY),
  );
}

/** Sends the message of a schedule to its session. Repeated until it succeeds: the same message twice is one. */
export function sendScheduled(input: Parameters<AgentActivities['sendScheduled']>[0]): ReturnType<AgentActivities['sendScheduled']> {
  const options = { startToCloseTimeout: SCHEDULE_LIMITS.sendTimeoutMs, summary: `send message ${input.firing}` };
  return repeatAfterLoss(
    () => sendActivity.executeWithOptions(options, [input]),
    () => patched(REPEATS_CALLS),
  );
}
