import * as wire from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { listOpenRunIds } from './list-runs.js';

/** A pending approval with its run ID. */
export type WaitingApproval = PendingApproval & { readonly runId: string };

/** The number of concurrent queries. Each is answered from the memory of a worker. */
const PARALLEL_MAX = 8;

/**
 * Lists the pending approvals of all open runs of a task queue, oldest first. Finds the runs by search attribute. If it is not
 * registered, queries every open run. Visibility lags, so a new approval may be missing.
 */
export async function listApprovals(access: TemporalAccess): Promise<WaitingApproval[]> {
  const queue = await candidateRuns(access);
  const found: WaitingApproval[] = [];
  const queryNext = async (): Promise<void> => {
    for (let runId = queue.shift(); runId !== undefined; runId = queue.shift()) found.push(...(await approvalsOf(access, runId)));
  };
  await Promise.all(Array.from({ length: PARALLEL_MAX }, queryNext));
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

async function candidateRuns(access: TemporalAccess): Promise<string[]> {
  try {
    return await listOpenRunIds(access, 'AgentPendingApprovals > 0');
  } catch (error) {
    // `dev` and `doctor` register the attribute; on other servers it may be missing
    if (!(error instanceof PerdureError) || error.code !== 'TEMPORAL_REFUSED') throw error;
    return await listOpenRunIds(access);
  }
}

/** The pending approvals of a run. Empty if the run no longer exists. */
async function approvalsOf(access: TemporalAccess, runId: string): Promise<WaitingApproval[]> {
  try {
    const { pending } = await access.query(access.client.workflow.getHandle(runId), wire.approvals);
    return pending.map((approval) => ({ runId, ...approval }));
  } catch (error) {
    if (error instanceof PerdureError && error.code === 'RUN_NOT_FOUND') return [];
    throw error;
  }
}
