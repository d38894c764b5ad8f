import type { ApprovalList } from '../../src/contracts/schemas/approval.js';
import { type TestRun, until } from './use-workers.js';

/** What waits for a person, once it is so many. */
export async function pendingApprovals(run: TestRun, count: number): Promise<ApprovalList['pending']> {
  let pending: ApprovalList['pending'] = [];
  await until(async () => {
    ({ pending } = await run.handle.query<ApprovalList>('approvals'));
    return pending.length === count;
  }, `${count} pending approvals`);
  return pending;
}
