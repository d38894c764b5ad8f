import * as wire from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { listOpenRunIds } from './list-runs.js';

/** A call that waits for a person, and the run it is of. */
export type WaitingApproval = PendingApproval & { readonly runId: string };

/** Runs are asked several at once: each answers from its worker's memory. */
const ASKED_AT_ONCE = 8;

/**
 * What waits for a person in all open runs of one queue, oldest first. Finds the runs by search attribute; where the server does not
 * know it, every open run is asked. Visibility is a little behind: what is asked just now may be missing.
 */
export async function listApprovals(access: TemporalAccess): Promise<WaitingApproval[]> {
  const queue = await runsThatMayWait(access);
  const found: WaitingApproval[] = [];
  const asker = async (): Promise<void> => {
    for (let runId = queue.shift(); runId !== undefined; runId = queue.shift()) found.push(...(await approvalsOf(access, runId)));
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, asker));
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

async function runsThatMayWait(access: TemporalAccess): Promise<string[]> {
  try {
    return await listOpenRunIds(access, 'AgentPendingApprovals > 0');
  } catch (error) {
    // the attribute is registered by `dev` and `doctor`; other servers may not know it
    if (!(error instanceof PerdureError) || error.code !== 'TEMPORAL_REFUSED') throw error;
    return await listOpenRunIds(access);
  }
}

/** None of a run that is gone by now. */
async function approvalsOf(access: TemporalAccess, runId: string): Promise<WaitingApproval[]> {
  try {
    const { pending } = await access.query(access.client.workflow.getHandle(runId), wire.approvals);
    return pending.map((approval) => ({ runId, ...approval }));
  } catch (error) {
    if (error instanceof PerdureError && error.code === 'RUN_NOT_FOUND') return [];
    throw error;
  }
}
