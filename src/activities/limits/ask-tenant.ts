import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { AgentActivities } from '../../contracts/activities.js';
import { TENANT_LEDGER } from '../../contracts/handlers.js';
import type { RunChain, TenantRequest } from '../../contracts/schemas/ledger.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import type { TenantRules } from './tenant-limits.js';

/** Makes the activity `askTenant`: signals the ledger of a tenant, and starts it if it does not run. */
export function createAskTenant({ limitsOf, bounds }: TenantRules): AgentActivities['askTenant'] {
  return async ({ ledger, queue, tenant, ...asked }) => {
    // without limits in this worker's config, the ledger lets all runs go on
    const request: TenantRequest = { ...asked, limits: limitsOf(tenant) ?? {}, ...(bounds ? { bounds } : {}) };
    await Context.current().client.workflow.signalWithStart(TENANT_LEDGER, {
      workflowId: ledger,
      taskQueue: queue,
      args: [tenant],
      signal: 'ask',
      signalArgs: [request],
      staticSummary: `limits of tenant ${escapeMarkdown(tenant)}`.slice(0, 200),
    });
  };
}

/** Makes the activity `checkTenant`: finds runs that ended without a report, and reads the limits that apply now. */
export function createCheckTenant({ limitsOf }: TenantRules): AgentActivities['checkTenant'] {
  return async ({ tenant, runs }) => {
    const { client } = Context.current();
    const found = await Promise.all(runs.map(async (run) => ((await isOver(client, run)) ? [run] : [])));
    return { ended: found.flat(), limits: limitsOf(tenant) ?? {} };
  };
}

/** True for a chain of executions that is closed, deleted, or replaced by a later run of the same id. False when the server does not say. */
async function isOver({ workflow }: Context['client'], { runId, chain }: RunChain): Promise<boolean> {
  try {
    const { closeTime, raw } = await workflow.getHandle(runId).describe();
    const first = raw.workflowExecutionInfo?.firstRunId ?? '';
    return closeTime !== undefined || (first !== '' && first !== chain);
  } catch (error) {
    return error instanceof WorkflowNotFoundError;
  }
}
