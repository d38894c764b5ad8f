import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { LEDGER_LIMITS, TENANT_LIMITS } from '../../contracts/constants/limits.js';
import type { TenantAnswer, TenantLeave, TenantLedgerState, TenantRequest, TenantStatus } from '../../contracts/schemas/ledger.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import { readActivityProblem } from '../temporal/failures.js';
import { checkTenant } from '../temporal/ledger-proxies.js';
import { areAmounts, isAmount, isId } from './read-message.js';
import { type AddressedAnswer, TenantAccounts } from './tenant-accounts.js';

const ask = defineSignal<[TenantRequest]>('ask');
const leave = defineSignal<[TenantLeave]>('leave');
const status = defineQuery<TenantStatus>('status');
/** The signal of a run that takes the answers. */
const tenant = defineSignal<[TenantAnswer]>('tenant');

/**
 * Keeps the places and the money of one tenant on one task queue. The first request of a run starts it; it ends when no run of the tenant is
 * open and nothing was spent today. Runs that were terminated are found while others wait. `state` is what continue-as-new carried over.
 */
export async function tenantLedger(name: string, state?: TenantLedgerState): Promise<void> {
  const ledger = new Ledger(state ? new TenantAccounts(state) : TenantAccounts.empty(name));
  ledger.serve();
  // a cancel would forget what was spent today
  await CancellationScope.nonCancellable(() => ledger.run());
  if (!ledger.isOver) await continueAsNew<typeof tenantLedger>(name, ledger.accounts.carry());
}

class Ledger {
  readonly accounts: TenantAccounts;
  isOver = false;
  #changed = false;
  /** Answers on their way. */
  #sending = 0;
  #nextCheckMs = 0;

  constructor(accounts: TenantAccounts) {
    this.accounts = accounts;
  }

  /** Sets the handlers. What cannot be read is dropped: anybody who reaches the server can send it. */
  serve(): void {
    setHandler(ask, (request) => this.#take(() => isRequest(request) && this.accounts.ask(request, Date.now())), {
      description: 'Sent by runs of the tenant that need a place, or money.',
    });
    setHandler(leave, (given) => this.#take(() => isLeave(given) && this.accounts.leave(given, Date.now())), {
      description: 'Sent by runs of the tenant that end.',
    });
    setHandler(status, () => this.accounts.status(Date.now()), { description: 'Runs at work, the queue, and the money of the day.' });
    const details = { toJSON: () => detailsOf(this.accounts.status(Date.now())) };
    // the SDK takes a text, which would have to be written anew at each step
    setCurrentDetails(details as unknown as string);
  }

  /**
   * Works until the ledger is over, or its history is long. It is over only after a time without work, so that the request that started it
   * is never overlooked.
   */
  async run(): Promise<void> {
    for (;;) {
      this.#changed = false;
      for (const answer of this.accounts.advance(Date.now())) void this.#send(answer);
      if (this.#isLong && this.#sending === 0) return;
      const woken = await condition(() => this.#changed || (this.#isLong && this.#sending === 0), this.#waitMs(Date.now()));
      if (woken) continue;
      if (this.accounts.hasWaiters && Date.now() >= this.#nextCheckMs) await this.#check();
      this.isOver = this.accounts.isForgettable(Date.now()) && this.#sending === 0 && !this.#changed;
      if (this.isOver) return;
    }
  }

  get #isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    const { historyEventsMax = LEDGER_LIMITS.historyEventsMax } = this.accounts.bounds;
    return continueAsNewSuggested || historyLength > historyEventsMax;
  }

  /** Time until something may change without a signal: a check, the next day, the end. */
  #waitMs(now: number): number {
    const { idleMs = LEDGER_LIMITS.idleMs } = this.accounts.bounds;
    const dayMs = this.accounts.dayEnd(now) - now;
    if (this.accounts.hasWaiters) return Math.max(1, Math.min(dayMs, this.#nextCheckMs - now));
    return this.accounts.isForgettable(now) ? idleMs : dayMs;
  }

  #take(apply: () => unknown): void {
    apply();
    this.#changed = true;
  }

  /** A run that cannot be reached has ended. */
  async #send({ runId, ...answer }: AddressedAnswer): Promise<void> {
    this.#sending += 1;
    try {
      await getExternalWorkflowHandle(runId).signal(tenant, answer);
    } catch {
      this.accounts.leave({ runId, chain: answer.chain, costUsd: 0 }, Date.now());
    }
    this.#sending -= 1;
    this.#changed = true;
  }

  /** Finds runs that ended without a report. A check that fails is repeated with the next one. */
  async #check(): Promise<void> {
    const { checkEveryMs = TENANT_LIMITS.checkEveryMs } = this.accounts.bounds;
    const { tenant: name } = this.accounts.carry();
    try {
      const { ended, limits } = await checkTenant({ tenant: name, runs: this.accounts.toCheck(Date.now()) });
      for (const run of ended) this.accounts.lost(run, Date.now());
      this.accounts.limit(limits);
    } catch (error) {
      // rethrows all but the failure of an activity
      readActivityProblem(error);
    }
    this.#nextCheckMs = Date.now() + checkEveryMs;
  }
}

function isRequest(given: unknown): given is TenantRequest {
  if (!isLeave(given)) return false;
  const { n, limits, bounds } = given as Partial<TenantRequest>;
  return isAmount(n) && areAmounts(limits) && (bounds === undefined || areAmounts(bounds));
}

function isLeave(given: unknown): given is TenantLeave {
  if (typeof given !== 'object' || given === null) return false;
  const { runId, chain, costUsd } = given as Partial<TenantLeave>;
  return isId(runId) && isId(chain) && (costUsd === 0 || isAmount(costUsd));
}

/** The ledger as Markdown for operators. */
function detailsOf({ tenant: name, limits, runs, waiting, waitingCount, day, spentUsd, leasedUsd }: TenantStatus): string {
  const { maxRuns, maxCostUsdPerDay } = limits;
  const rows = [
    ['Runs', maxRuns === undefined ? `${runs}` : `${runs} of ${maxRuns} at once`],
    ['Waiting', waitingCount === 0 ? 'none' : `${waitingCount}, first: ${escapeMarkdown(waiting[0] ?? '')}`],
    ...(maxCostUsdPerDay === undefined
      ? []
      : [
          [`Spent on ${day.slice(0, 10)}`, `${spentUsd.toFixed(4)} of ${maxCostUsdPerDay} USD`],
          ['Leased to runs', `${leasedUsd.toFixed(4)} USD`],
        ]),
  ];
  return `**Tenant ${escapeMarkdown(name)}**\n\n| | |\n|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}
