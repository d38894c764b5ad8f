import type { WorkflowHandle } from '@temporalio/client';
import { inject } from 'vitest';
import type { TenantRules } from '../../../../src/activities/limits/tenant-limits.js';
import { ledgerId } from '../../../../src/contracts/handlers.js';
import type { LedgerBounds, TenantLimits, TenantStatus } from '../../../../src/contracts/schemas/ledger.js';
import type { AgentWorker } from '../../../support/agent-worker.js';
import { replayHistory } from '../../../support/test-worker.js';

/** The same limits for all tenants, checked and ended soon. */
export function rules(limits: TenantLimits, bounds: LedgerBounds = {}): TenantRules {
  return { limitsOf: (tenant) => (tenant === '' ? undefined : limits), bounds: { checkEveryMs: 300, idleMs: 300, ...bounds } };
}

/** The ledger of a tenant on the queue of a worker. */
export function ledgerOf(on: AgentWorker, tenant: string): WorkflowHandle {
  return on.client.workflow.getHandle(ledgerId('tenant', on.taskQueue, tenant));
}

/** The status of the ledger; undefined before it is there. */
export async function statusOf(on: AgentWorker, tenant: string): Promise<TenantStatus | undefined> {
  return await ledgerOf(on, tenant)
    .query<TenantStatus>('status')
    .catch(() => undefined);
}

/** Replays the last history of a workflow with the present code. */
export async function replay(handle: WorkflowHandle): Promise<void> {
  await replayHistory(inject('workflowBundlePath'), await handle.fetchHistory(), handle.workflowId);
}
