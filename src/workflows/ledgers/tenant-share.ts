import { workflowInfo } from '@temporalio/workflow';
import { ledgerId } from '../../contracts/handlers.js';
import type { CarriedShare, TenantAnswer } from '../../contracts/schemas/ledger.js';
import type { PreparedTenant } from '../../contracts/schemas/prepared-run.js';

/** A run's place and money of its tenant. */
export class TenantShare {
  readonly tenant: PreparedTenant;
  /** Why the run waits, in the words of the ledger; undefined before its answer, and once it has what it asked for. */
  waitsFor: string | undefined;
  #n: number;
  #hasAsked: boolean;
  #hasPlace: boolean;
  #lease: CarriedShare['lease'];
  #isGranted = false;

  constructor(tenant: PreparedTenant, carried?: CarriedShare) {
    this.tenant = tenant;
    this.#n = carried?.n ?? 0;
    this.#hasAsked = carried?.hasAsked ?? false;
    this.#hasPlace = carried?.hasPlace ?? false;
    this.#lease = carried?.lease;
  }

  /** Workflow id of the tenant's ledger. */
  get ledger(): string {
    return ledgerId('tenant', workflowInfo().taskQueue, this.tenant.name);
  }

  /** Number of the current request. */
  get n(): number {
    return this.#n;
  }

  /** True when the ledger may know the run. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** True when the current request was granted. */
  get isGranted(): boolean {
    return this.#isGranted;
  }

  /** True when the run must ask before its next turn. */
  needs(costUsd: number, now: number): boolean {
    if (!this.#hasPlace) return true;
    const lease = this.#lease;
    return lease !== undefined && (now >= lease.untilMs || costUsd - lease.fromUsd >= lease.usd);
  }

  /** Begins a request. */
  begin(): void {
    this.#n += 1;
    this.#hasAsked = true;
    this.#isGranted = false;
    this.waitsFor = undefined;
  }

  /** Takes an answer of the ledger. Answers to earlier requests are dropped, and those to an earlier run of the same id. */
  receive(answer: TenantAnswer, costUsd: number): void {
    if (answer.n !== this.#n || !this.#hasAsked || this.#isGranted || answer.chain !== workflowInfo().firstExecutionRunId) return;
    if (answer.kind === 'waits') {
      this.waitsFor = answer.waitsFor;
      return;
    }
    this.waitsFor = undefined;
    this.#isGranted = true;
    this.#hasPlace = true;
    this.#lease = answer.lease && { ...answer.lease, fromUsd: costUsd };
  }

  /** The run gives all back. */
  end(): void {
    this.#hasAsked = false;
    this.#hasPlace = false;
    this.#lease = undefined;
  }

  /** The state that continue-as-new carries over. */
  carry(): CarriedShare {
    return { n: this.#n, hasAsked: this.#hasAsked, hasPlace: this.#hasPlace, ...(this.#lease ? { lease: this.#lease } : {}) };
  }
}
