import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { AUTH_LIMITS, MODEL_LIMITS, SUBAGENT_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';

const { signStart: signActivity, awaitRun: awaitActivity } = proxyActivities<AgentActivities>({
  startToCloseTimeout: AUTH_LIMITS.checkTimeoutMs,
});

/** Signs the start of a sub-agent, or of a run of a session. Repeated until it succeeds. */
export function signStart(input: Parameters<AgentActivities['signStart']>[0]): ReturnType<AgentActivities['signStart']> {
  return signActivity.executeWithOptions({ startToCloseTimeout: AUTH_LIMITS.checkTimeoutMs, summary: `sign the start of ${input.runId}` }, [
    input,
  ]);
}

/** Waits for the end of a child run that an earlier history of this workflow started. It only reads, so it is repeated until it succeeds. */
export function awaitRun(input: Parameters<AgentActivities['awaitRun']>[0]): ReturnType<AgentActivities['awaitRun']> {
  return awaitActivity.executeWithOptions(
    {
      startToCloseTimeout: SUBAGENT_LIMITS.awaitTimeoutMs,
      heartbeatTimeout: WORKER_LIMITS.heartbeatTimeoutMs,
      retry: { initialInterval: MODEL_LIMITS.backoffMs, backoffCoefficient: 1 },
      summary: `wait for run ${input.runId}`,
    },
    [input],
  );
}
