import * as wire from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { ApprovalList, PendingApproval } from '../../contracts/schemas/approval.js';
import type { PendingQuestion } from '../../contracts/schemas/question.js';
import type { TemporalAccess } from '../temporal/connection.js';
import { listOpenRunIds } from './list-runs.js';

/** A pending approval with its run ID. */
export type WaitingApproval = PendingApproval & { readonly runId: string };

/** A pending question with its run ID. */
export type WaitingQuestion = PendingQuestion & { readonly runId: string };

/** The number of concurrent queries. Each is answered from the memory of a worker. */
const PARALLEL_MAX = 8;

/**
 * Lists the pending approvals of all open runs of a task queue, oldest first. Finds the runs by search attribute. If it is not
 * registered, queries every open run. Visibility lags, so a new approval may be missing.
 */
export async function listApprovals(access: TemporalAccess): Promise<WaitingApproval[]> {
  return await listPending(access, ({ pending }) => pending);
}

/** Lists the pending questions of all open runs of a task queue, as `listApprovals` does. */
export async function listQuestions(access: TemporalAccess): Promise<WaitingQuestion[]> {
  return await listPending(access, ({ questions = [] }) => questions);
}

async function listPending<Entry extends { readonly since: string }>(
  access: TemporalAccess,
  entriesOf: (list: ApprovalList) => readonly Entry[],
): Promise<(Entry & { readonly runId: string })[]> {
  const queue = await candidateRuns(access);
  const found: (Entry & { readonly runId: string })[] = [];
  const queryNext = async (): Promise<void> => {
    for (let runId = queue.shift(); runId !== undefined; runId = queue.shift()) {
      const id = runId;
      found.push(...entriesOf(await pendingOf(access, id)).map((entry) => ({ ...entry, runId: id })));
    }
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

/** What people are waited for in a run. Empty if the run no longer exists. */
async function pendingOf(access: TemporalAccess, runId: string): Promise<ApprovalList> {
  try {
    return await access.query(access.client.workflow.getHandle(runId), wire.approvals);
  } catch (error) {
    if (error instanceof PerdureError && error.code === 'RUN_NOT_FOUND') return { pending: [], decided: [] };
    throw error;
  }
}
