import { WithStartWorkflowOperation } from '@temporalio/client';
import type { AskLedger, ProviderRules } from '../../activities/limits/provider-gate.js';
import { PROVIDER_LIMITS } from '../../contracts/constants/limits.js';
import { ledgerId, PROVIDER_LEDGER } from '../../contracts/handlers.js';
import type { PlacesAnswer, ProviderLimits } from '../../contracts/schemas/ledger.js';
import type { Config } from '../../define/define-config.js';

/** The limits of providers, if the config has any. */
export function providerRules({ limits }: Pick<Config, 'limits'>): { readonly providers?: ProviderRules } {
  const { providers } = limits ?? {};
  if (!providers) return {};
  const limitsOf = (name: string): ProviderLimits | undefined => {
    const { callsAtOnce, callsPerMinute } = (Object.hasOwn(providers, name) ? providers[name] : undefined) ?? {};
    if (callsAtOnce === undefined && callsPerMinute === undefined) return undefined;
    return { ...(callsAtOnce === undefined ? {} : { callsAtOnce }), ...(callsPerMinute === undefined ? {} : { callsPerMinute }) };
  };
  return { providers: { limitsOf, ask: askProviderLedger } };
}

/** Sends the counters of a worker to the ledger of a provider by update-with-start. Rejects without an answer in time. */
export const askProviderLedger: AskLedger = async ({ client, taskQueue }, request) => {
  const { provider } = request;
  const startWorkflowOperation = new WithStartWorkflowOperation(PROVIDER_LEDGER, {
    workflowId: ledgerId('provider', taskQueue, provider),
    taskQueue,
    args: [provider],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `limits of provider ${provider}`,
  });
  return await client.withDeadline(Date.now() + PROVIDER_LIMITS.requestMsMax, () =>
    client.workflow.executeUpdateWithStart<() => Promise<void>, PlacesAnswer, [typeof request]>('take', {
      args: [request],
      startWorkflowOperation,
    }),
  );
};
