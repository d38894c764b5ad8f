import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { AUTH_LIMITS, MODEL_LIMITS, SUBAGENT_LIMITS } from '../../contracts/constants/limits.js';
import { heartbeatTimeoutOf } from './proxies.js';
import { repeatAfterLoss } from './repeat-after-loss.js';

const { signStart: signActivity, awaitRun: awaitActivity } = proxyActivities<AgentActivities>({
  startToCloseTimeout: AUTH_LIMITS.checkTimeoutMs,
});

/** Signs the start of a sub-agent or of a run of a session, or the preparation of another agent. Repeated until it succeeds. */
export function signStart(input: Parameters<AgentActivities['signStart']>[0]): ReturnType<AgentActivities['signStart']> {
  const options = { startToCloseTimeout: AUTH_LIMITS.checkTimeoutMs, summary: `sign the start of ${input.runId}` };
  return repeatAfterLoss(() => signActivity.executeWithOptions(options, [input]));
}

/**
 * Waits for the end of a child run that an earlier history of this workflow started. It only reads, so it is repeated until it succeeds.
 * `heartbeatTimeoutMs`: that of a run.
 */
export function awaitRun(
  input: Parameters<AgentActivities['awaitRun']>[0],
  { heartbeatTimeoutMs }: { readonly heartbeatTimeoutMs?: number | undefined } = {},
): ReturnType<AgentActivities['awaitRun']> {
  const options = {
    startToCloseTimeout: SUBAGENT_LIMITS.awaitTimeoutMs,
    heartbeatTimeout: heartbeatTimeoutOf(heartbeatTimeoutMs, SUBAGENT_LIMITS.awaitTimeoutMs),
    retry: { initialInterval: MODEL_LIMITS.backoffMs, backoffCoefficient: 1 },
    summary: `wait for run ${input.runId}`,
  };
  return repeatAfterLoss(() => awaitActivity.executeWithOptions(options, [input]));
}
