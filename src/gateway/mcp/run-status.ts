import type { RunHandle } from '../../client/run-handle.js';
import type { RunDescription } from '../../client/runs/describe-run.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { PendingQuestion } from '../../contracts/schemas/question.js';
import type { Progress } from '../../contracts/schemas/run.js';

/** What `run_status` returns. */
interface RunStatus {
  readonly run: RunDescription;
  /** As a worker reports it. */
  readonly progress?: Progress;
  /** The calls that wait for an approval. */
  readonly approvals: readonly PendingApproval[];
  /** The questions that wait for an answer. */
  readonly questions: readonly PendingQuestion[];
  /** Why no worker reports. */
  readonly notice?: string;
}

/** The status of a run, open or closed. Without a worker only what the Temporal server has. Throws `RUN_NOT_FOUND`. */
export async function statusOf(handle: RunHandle): Promise<RunStatus> {
  const run = await handle.describe();
  try {
    const progress = await handle.progress();
    const isWaiting = progress.pendingApprovals + (progress.pendingQuestions ?? 0) > 0;
    const { pending = [], questions = [] } = run.open && isWaiting ? await handle.approvals() : {};
    return { run, progress, approvals: pending, questions };
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
    return { run, approvals: [], questions: [], notice: `${error.code}: ${error.message}` };
  }
}
