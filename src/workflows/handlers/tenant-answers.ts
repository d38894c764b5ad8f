import { defineSignal, setHandler } from '@temporalio/workflow';
import type { TenantAnswer } from '../../contracts/schemas/ledger.js';
import type { Run } from '../state/run.js';

const tenant = defineSignal<[TenantAnswer]>('tenant');

/**
 * Registers the signal with which the ledger of a tenant answers, for runs whose tenant has limits. The SDK keeps signals that come before.
 * Anything but an answer is dropped.
 */
export function registerTenantAnswers(run: Run): void {
  const take = (given: unknown): void => {
    run.inbox.signals += 1;
    if (isAnswer(given)) run.tenant?.receive(given, run.spending.costUsd ?? 0);
  };
  setHandler(tenant, take, { description: "The answer of the tenant's ledger. Not for operators." });
}

function isAnswer(given: unknown): given is TenantAnswer {
  if (typeof given !== 'object' || given === null) return false;
  const { kind, waitsFor, lease } = given as Partial<Record<string, unknown>>;
  if (kind === 'waits') return typeof waitsFor === 'string';
  return kind === 'granted' && (lease === undefined || isLease(lease));
}

function isLease(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  const { usd, untilMs } = given as Partial<Record<string, unknown>>;
  return Number.isFinite(usd) && Number.isFinite(untilMs);
}
