import { TENANT_LIMITS } from '../../contracts/constants/limits.js';
import type {
  RunChain,
  TenantAnswer,
  TenantHolder,
  TenantLease,
  TenantLeave,
  TenantLedgerState,
  TenantLimits,
  TenantRequest,
  TenantStatus,
  TenantWaiter,
} from '../../contracts/schemas/ledger.js';

/** An answer, and the run that it is for. */
export type AddressedAnswer = TenantAnswer & RunChain;

/** Why a run must wait. */
interface Obstacle {
  readonly kind: 'place' | 'money';
  readonly text: string;
}

/** Below it money counts as spent: sums of floating-point numbers leave such rests. */
const USD_MIN = 1e-9;
const WAITING_SHOWN = 100;

/**
 * The places and the money of one tenant. Runs that have a place come before runs without one; within both groups the first request is
 * served first. Money is leased in parts: a run asks again when it has spent its lease, so all runs together can exceed the limit of a
 * day by what their last calls cost more than their leases. No method waits; all times are in milliseconds since 1970.
 */
export class TenantAccounts {
  readonly #holders: Map<string, TenantHolder>;
  readonly #waiters: Map<string, TenantWaiter>;
  #state: Omit<TenantLedgerState, 'holders' | 'waiters'>;
  readonly #answers: AddressedAnswer[] = [];

  constructor({ holders, waiters, ...state }: TenantLedgerState) {
    this.#state = state;
    this.#holders = new Map(holders.map((holder) => [holder.runId, holder]));
    this.#waiters = new Map(waiters.map((waiter) => [waiter.runId, waiter]));
  }

  static empty(tenant: string): TenantAccounts {
    return new TenantAccounts({ v: 1, tenant, limits: {}, bounds: {}, day: 0, spentUsd: 0, holders: [], waiters: [] });
  }

  get hasWaiters(): boolean {
    return this.#waiters.size > 0;
  }

  /** True when nothing is left that must be remembered. */
  isForgettable(now: number): boolean {
    this.#beginDay(now);
    return this.#holders.size === 0 && this.#waiters.size === 0 && this.#state.spentUsd === 0;
  }

  /** End of the day of a time. */
  dayEnd(now: number): number {
    return (Math.floor(now / this.#dayMs) + 1) * this.#dayMs;
  }

  /** Takes a request: the run is in the queue from now on, at its earlier position if it waits already. */
  ask(request: TenantRequest, now: number): void {
    this.#beginDay(now);
    const { runId, chain, n, costUsd, limits, bounds } = request;
    this.#state = { ...this.#state, limits, bounds: bounds ?? this.#state.bounds };
    this.#forgetOthers(request, now);
    const holder = this.#settle(runId, costUsd);
    // what is left of its lease goes back
    if (holder) this.#holders.set(runId, withoutLease({ ...holder, checkedMs: now }));
    const { told: _, ...waiting } = this.#waiters.get(runId) ?? { runId, chain, sinceMs: now };
    if (!this.#waiters.has(runId) && this.#waiters.size >= TENANT_LIMITS.waitersMax) return this.#answerFull(request);
    this.#waiters.set(runId, { ...waiting, n, costUsd });
  }

  /** Takes the end of a run, with its place and its position in the queue. */
  leave({ runId, chain, costUsd }: TenantLeave, now: number): void {
    this.#beginDay(now);
    if (this.#waiters.get(runId)?.chain === chain) this.#waiters.delete(runId);
    if (this.#holders.get(runId)?.chain !== chain) return;
    this.#settle(runId, costUsd);
    this.#holders.delete(runId);
  }

  /** Takes the end of a run that did not report it. Its whole lease counts as spent, because nobody knows how much of it was. */
  lost({ runId, chain }: RunChain, now: number): void {
    this.#beginDay(now);
    const holder = this.#holders.get(runId);
    const leasedUsd = holder?.chain === chain ? (holder.lease?.usd ?? 0) : 0;
    this.leave({ runId, chain, costUsd: (holder?.costUsd ?? 0) + leasedUsd }, now);
  }

  /** Takes limits that changed. */
  limit(limits: TenantLimits): void {
    this.#state = { ...this.#state, limits };
  }

  /** The runs with a place that were not checked for the longest time. */
  toCheck(now: number): RunChain[] {
    const oldest = [...this.#holders.values()].toSorted((a, b) => a.checkedMs - b.checkedMs).slice(0, TENANT_LIMITS.checkedRunsMax);
    for (const holder of oldest) this.#holders.set(holder.runId, { ...holder, checkedMs: now });
    return oldest.map(({ runId, chain }) => ({ runId, chain }));
  }

  /** Gives away what is free, and returns the answers to send. A run that stays in the queue gets one when its reason changed. */
  advance(now: number): AddressedAnswer[] {
    this.#beginDay(now);
    const waiting = [...this.#waiters.values()];
    const inOrder = [
      ...waiting.filter((each) => this.#holders.has(each.runId)),
      ...waiting.filter((each) => !this.#holders.has(each.runId)),
    ];
    for (const waiter of inOrder) {
      const obstacle = this.#obstacle(waiter.runId);
      if (obstacle === undefined) this.#grant(waiter, now);
      else this.#tell(waiter, obstacle);
    }
    return this.#answers.splice(0);
  }

  status(now: number): TenantStatus {
    const { tenant, limits, spentUsd } = this.#state;
    const start = this.dayEnd(now) - this.#dayMs;
    return {
      tenant,
      limits,
      runs: this.#holders.size,
      waiting: [...this.#waiters.keys()].slice(0, WAITING_SHOWN),
      waitingCount: this.#waiters.size,
      day: new Date(start).toISOString(),
      // a query must not change the state
      spentUsd: this.#state.day === Math.floor(now / this.#dayMs) ? spentUsd : 0,
      leasedUsd: this.#leasedUsd(this.dayEnd(now)),
    };
  }

  carry(): TenantLedgerState {
    return { ...this.#state, holders: [...this.#holders.values()], waiters: [...this.#waiters.values()] };
  }

  get bounds(): TenantLedgerState['bounds'] {
    return this.#state.bounds;
  }

  get #dayMs(): number {
    return this.#state.bounds.dayMs ?? TENANT_LIMITS.dayMs;
  }

  /** The spending of earlier days is forgotten. */
  #beginDay(now: number): void {
    const day = Math.floor(now / this.#dayMs);
    if (day > this.#state.day) this.#state = { ...this.#state, day, spentUsd: 0 };
  }

  /** Counts what a run spent since its last report. It counts for the day of its lease, on which the calls began. */
  #settle(runId: string, costUsd: number): TenantHolder | undefined {
    const holder = this.#holders.get(runId);
    if (!holder) return undefined;
    const usd = Math.max(0, costUsd - holder.costUsd);
    const isToday = holder.lease !== undefined && holder.lease.untilMs === (this.#state.day + 1) * this.#dayMs;
    if (isToday) this.#state = { ...this.#state, spentUsd: this.#state.spentUsd + usd };
    const lease = holder.lease && { ...holder.lease, usd: Math.max(0, holder.lease.usd - usd) };
    const settled = { ...holder, costUsd: Math.max(costUsd, holder.costUsd), ...(lease ? { lease } : {}) };
    this.#holders.set(runId, settled);
    return settled;
  }

  /** A run with the same id and another first execution is over. */
  #forgetOthers({ runId, chain }: RunChain, now: number): void {
    const holder = this.#holders.get(runId);
    if (holder && holder.chain !== chain) this.lost(holder, now);
    if (this.#waiters.has(runId) && this.#waiters.get(runId)?.chain !== chain) this.#waiters.delete(runId);
  }

  /** Why a run cannot get what it asked for; undefined when it can. */
  #obstacle(runId: string): Obstacle | undefined {
    const { tenant, limits, spentUsd } = this.#state;
    const { maxRuns = TENANT_LIMITS.runsMax, maxCostUsdPerDay } = limits;
    if (!this.#holders.has(runId) && this.#holders.size >= maxRuns) {
      return { kind: 'place', text: `a place of tenant ${tenant} (${this.#holders.size} of ${maxRuns} runs at once)` };
    }
    if (maxCostUsdPerDay === undefined || this.#freeUsd(maxCostUsdPerDay) > USD_MIN) return undefined;
    const dayEndMs = (this.#state.day + 1) * this.#dayMs;
    const spent = `${shownUsd(spentUsd)} of ${shownUsd(maxCostUsdPerDay)} USD spent`;
    const leasedUsd = this.#leasedUsd(dayEndMs);
    const leased = leasedUsd > USD_MIN ? `, ${shownUsd(leasedUsd)} with runs at work` : '';
    const text = `money of tenant ${tenant} (${spent}${leased}), at the latest until ${new Date(dayEndMs).toISOString()}`;
    return { kind: 'money', text };
  }

  #grant({ runId, chain, n, costUsd }: TenantWaiter, now: number): void {
    const { maxCostUsdPerDay } = this.#state.limits;
    const lease: TenantLease | undefined =
      maxCostUsdPerDay === undefined
        ? undefined
        : {
            usd: Math.min(this.#freeUsd(maxCostUsdPerDay), maxCostUsdPerDay * TENANT_LIMITS.leaseFraction),
            untilMs: this.dayEnd(now),
          };
    this.#waiters.delete(runId);
    this.#holders.set(runId, { runId, chain, n, costUsd, checkedMs: now, ...(lease ? { lease } : {}) });
    this.#answers.push({ runId, chain, n, kind: 'granted', ...(lease ? { lease } : {}) });
  }

  /** The amounts change all the time, the kind of the obstacle seldom. */
  #tell(waiter: TenantWaiter, { kind, text }: Obstacle): void {
    if (waiter.told === kind) return;
    const { runId, chain, n } = waiter;
    this.#waiters.set(runId, { ...waiter, told: kind });
    this.#answers.push({ runId, chain, n, kind: 'waits', waitsFor: text });
  }

  #answerFull({ runId, chain, n }: TenantRequest): void {
    const waitsFor = `a place in the queue of tenant ${this.#state.tenant} (${this.#waiters.size} runs wait)`;
    this.#answers.push({ runId, chain, n, kind: 'waits', waitsFor });
  }

  #freeUsd(maxCostUsdPerDay: number): number {
    return maxCostUsdPerDay - this.#state.spentUsd - this.#leasedUsd((this.#state.day + 1) * this.#dayMs);
  }

  /** The leases of the day that ends then. */
  #leasedUsd(dayEndMs: number): number {
    return [...this.#holders.values()].reduce((sum, { lease }) => sum + (lease?.untilMs === dayEndMs ? lease.usd : 0), 0);
  }
}

function withoutLease(given: TenantHolder): TenantHolder {
  const { lease: _, ...holder } = given;
  return holder;
}

function shownUsd(usd: number): string {
  return usd.toFixed(usd > 0 && usd < 0.01 ? 6 : 2);
}
