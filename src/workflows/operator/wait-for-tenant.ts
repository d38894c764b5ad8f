import { condition, defineSignal, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { MODEL_LIMITS, PAYLOAD_LIMITS, TENANT_LIMITS } from '../../contracts/constants/limits.js';
import type { RunChain, TenantLeave } from '../../contracts/schemas/ledger.js';
import type { TenantShare } from '../ledgers/tenant-share.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { askTenant } from '../temporal/ledger-proxies.js';
import type { Continuation } from './pause-and-hold.js';
import { publishAttributes } from './progress.js';

/** True when the run must ask the ledger of its tenant before its next turn. A run without a limited tenant never must. */
export function mustAskTenant(run: Run): boolean {
  return run.tenant !== undefined && !run.mustStop && run.tenant.needs(costOf(run), Date.now());
}

/**
 * Called between turns: asks the ledger of the run's tenant for a place and for money, and waits until it grants both, with the work clock
 * stopped. A cancel ends the wait immediately; `leaveTenant` then takes the run out of the queue.
 */
export async function waitForTenant(run: Run): Promise<Continuation> {
  const { tenant: share } = run;
  if (!share) return 'go';
  run.clock.stop();
  share.begin();
  const close = await untilGranted(run, share);
  close?.();
  if (close) publishAttributes(run, { AgentStatus: run.status });
  if (!run.mustStop && !share.isGranted) return 'continue-as-new';
  run.clock.start();
  return run.mustStop ? 'stop' : 'go';
}

/** Gives the place and the rest of the lease back. Called before the run ends. */
export async function leaveTenant(run: Run): Promise<void> {
  const { tenant: share } = run;
  if (!share?.hasAsked) return;
  share.end();
  const message: TenantLeave = { ...chainOf(), costUsd: costOf(run) };
  // a ledger that was terminated needs no report
  await getExternalWorkflowHandle(share.ledger)
    .signal(leave, message)
    .catch(() => undefined);
}

const leave = defineSignal<[TenantLeave]>('leave');

/** Returns the function that ends the shown wait; undefined when the run did not have to wait. */
async function untilGranted(run: Run, share: TenantShare): Promise<(() => void) | undefined> {
  let close: (() => void) | undefined;
  let shown: string | undefined;
  while (isWaiting(run, share)) {
    // the ledger may have been terminated: a run that waits long asks again, and keeps its position
    const askAgainMs = (await ask(run, share)) ? TENANT_LIMITS.askAgainMs : MODEL_LIMITS.backoffMs;
    for (let isLate = false; !isLate && isWaiting(run, share); ) {
      if (share.waitsFor !== shown) {
        shown = share.waitsFor;
        close ??= run.waits.open(() => share.waitsFor ?? share.tenant.name);
        run.events.add({ type: 'waiting', for: share.waitsFor ?? share.tenant.name });
        publishAttributes(run, { AgentStatus: run.status });
      }
      const isChanged = (): boolean => !isWaiting(run, share) || share.waitsFor !== shown;
      isLate = !(await condition(isChanged, askAgainMs, { summary: summaryOf(share) }));
    }
  }
  return close;
}

function isWaiting(run: Run, share: TenantShare): boolean {
  return !run.mustStop && !share.isGranted && !run.historyIsLong();
}

/** Sends the current request. False when that failed: it must be sent again soon. */
async function ask(run: Run, share: TenantShare): Promise<boolean> {
  const { ledger, tenant, n } = share;
  const request = { ...chainOf(), n, costUsd: costOf(run), tenant: tenant.name, ledger, queue: workflowInfo().taskQueue };
  try {
    await run.calls.abortable(() => askTenant(request, summaryOf(share)));
    return true;
  } catch (error) {
    // rethrows all but the failure of an activity
    readActivityProblem(error);
    return false;
  }
}

function chainOf(): RunChain {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  return { runId: workflowId, chain: firstExecutionRunId };
}

function costOf({ spending }: Run): number {
  return spending.costUsd ?? 0;
}

function summaryOf({ tenant }: TenantShare): string {
  return `limits of tenant ${tenant.name}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax);
}
