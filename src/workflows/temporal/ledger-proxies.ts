import { proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities.js';
import { MODEL_LIMITS, TENANT_LIMITS } from '../../contracts/constants/limits.js';

const { askTenant: askActivity, checkTenant: checkActivity } = proxyActivities<AgentActivities>({
  startToCloseTimeout: TENANT_LIMITS.askTimeoutMs,
});

/** Asks the ledger of a run's tenant for a place and for money. Repeated until it succeeds: the run cannot do anything without it. */
export function askTenant(input: Parameters<AgentActivities['askTenant']>[0], summary: string): ReturnType<AgentActivities['askTenant']> {
  const retry = { initialInterval: MODEL_LIMITS.backoffMs, maximumInterval: TENANT_LIMITS.askBackoffMsMax };
  return askActivity.executeWithOptions({ startToCloseTimeout: TENANT_LIMITS.askTimeoutMs, retry, summary }, [input]);
}

/** Finds runs that have ended, and the limits that apply now. The ledger repeats it, so it has one attempt. */
export function checkTenant(input: Parameters<AgentActivities['checkTenant']>[0]): ReturnType<AgentActivities['checkTenant']> {
  const summary = `check ${input.runs.length} runs of tenant ${input.tenant}`.slice(0, 100);
  const timeouts = { startToCloseTimeout: TENANT_LIMITS.checkTimeoutMs, scheduleToCloseTimeout: 2 * TENANT_LIMITS.checkTimeoutMs };
  return checkActivity.executeWithOptions({ ...timeouts, retry: { maximumAttempts: 1 }, summary }, [input]);
}
