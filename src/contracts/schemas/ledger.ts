import { z } from 'zod';

/** The limits of one tenant. Absent: no limit. */
export interface TenantLimits {
  /** Open runs at once, also those that are paused or wait for approval. */
  readonly maxRuns?: number;
  /** Cost of all runs in USD for each day, in UTC. */
  readonly maxCostUsdPerDay?: number;
}

/** Thresholds of a ledger that tests lower. */
export interface LedgerBounds {
  /** Length of a day, in milliseconds. @default a day */
  readonly dayMs?: number;
  /** Time between two checks of the runs at work, while others wait, in milliseconds. @default 30 s */
  readonly checkEveryMs?: number;
  /** Time without work after which the ledger ends, in milliseconds. @default a minute */
  readonly idleMs?: number;
  /** Events after which the ledger continues as new. @default 2,000 */
  readonly historyEventsMax?: number;
}

/** A run, and the first of its executions: a later run may have the same id. */
export interface RunChain {
  readonly runId: string;
  readonly chain: string;
}

/** Signal `ask` of a tenant's ledger: a run asks for a place, and for money. Sent again, it keeps its position. */
export interface TenantRequest extends RunChain {
  /** Counts the requests of a run. The answer names it. */
  readonly n: number;
  /** Cost of the run so far, in USD. */
  readonly costUsd: number;
  readonly limits: TenantLimits;
  readonly bounds?: LedgerBounds;
}

/** Signal `leave` of a tenant's ledger: a run ends, or no longer waits. */
export interface TenantLeave extends RunChain {
  readonly costUsd: number;
}

/** Money that a run may spend before it asks again. */
export interface TenantLease {
  readonly usd: number;
  /** End of the day, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** Signal `tenant` of a run: the answer of the ledger. `waitsFor`: the run is in the queue, for this reason. */
export type TenantAnswer = { readonly chain: string; readonly n: number } & (
  | { readonly kind: 'granted'; readonly lease?: TenantLease }
  | { readonly kind: 'waits'; readonly waitsFor: string }
);

/** What a run carries over continue-as-new of its tenant. */
export const CarriedShare = z.strictObject({
  /** Requests so far. */
  n: z.number().int(),
  hasAsked: z.boolean(),
  hasPlace: z.boolean(),
  /** The lease, and the cost of the run when it was given. */
  lease: z.strictObject({ usd: z.number(), untilMs: z.number(), fromUsd: z.number() }).optional(),
});
export type CarriedShare = z.infer<typeof CarriedShare>;

/** A run with a place. */
export interface TenantHolder extends RunChain {
  readonly n: number;
  readonly costUsd: number;
  /** The rest of its lease, and the end of the lease's day. */
  readonly lease?: TenantLease;
  /** When it was last found open. */
  readonly checkedMs: number;
}

/** A run in the queue. `told`: the reason that it knows. */
export interface TenantWaiter extends RunChain {
  readonly n: number;
  readonly costUsd: number;
  readonly sinceMs: number;
  readonly told?: 'place' | 'money';
}

/** The state of a tenant's ledger, which continue-as-new carries over. */
export interface TenantLedgerState {
  readonly v: 1;
  readonly tenant: string;
  readonly limits: TenantLimits;
  readonly bounds: LedgerBounds;
  /** The day of `spentUsd`: days since 1970. */
  readonly day: number;
  readonly spentUsd: number;
  readonly holders: readonly TenantHolder[];
  /** In the order of their requests. */
  readonly waiters: readonly TenantWaiter[];
}

/** Result of query `status` of a tenant's ledger. */
export interface TenantStatus {
  readonly tenant: string;
  readonly limits: TenantLimits;
  /** Runs with a place. */
  readonly runs: number;
  /** Ids of the runs that wait, in the order of the queue; the first 100. */
  readonly waiting: readonly string[];
  readonly waitingCount: number;
  /** Start of the day, ISO 8601. */
  readonly day: string;
  /** Reported cost of the day in USD. Runs at work report with each lease, and at their end. */
  readonly spentUsd: number;
  /** Money that runs at work may still spend before they ask again. */
  readonly leasedUsd: number;
}

/** Input of activity `askTenant`, which sends a run's request to the ledger of its tenant. */
export interface AskTenantInput extends RunChain {
  readonly n: number;
  readonly costUsd: number;
  readonly tenant: string;
  /** Workflow id of the ledger, and the task queue where it runs. */
  readonly ledger: string;
  readonly queue: string;
}

/** Input of activity `checkTenant`, which finds runs that ended without a report. */
export interface CheckTenantInput {
  readonly tenant: string;
  readonly runs: readonly RunChain[];
}

/** The runs that are over, and the limits of the worker's config. */
export interface CheckTenantResult {
  readonly ended: readonly RunChain[];
  readonly limits: TenantLimits;
}

/** The limits of one provider, over all workers of a task queue. Absent: no limit. */
export interface ProviderLimits {
  /** Model calls at once. */
  readonly callsAtOnce?: number;
  /** Model calls that begin within a minute. */
  readonly callsPerMinute?: number;
}

/** Thresholds of a provider's ledger that tests lower, in milliseconds. */
export interface ProviderBounds {
  /** Time after its last message at which the calls of a worker free their places. @default 30 s */
  readonly leaseMs?: number;
  /** The minute of `callsPerMinute`. @default a minute */
  readonly windowMs?: number;
  /** Time without work after which the ledger ends. @default a minute */
  readonly idleMs?: number;
  /** Updates after which the ledger continues as new. @default 1,000 */
  readonly updatesMax?: number;
}

/**
 * Update `take` of a provider's ledger: the counters of one worker. Each only grows, so a message that is lost, repeated or late does no
 * harm: a worker has `granted - finished` places, and waits for `wanted - granted`.
 */
export interface PlacesRequest {
  /** Random id of the worker. */
  readonly worker: string;
  readonly provider: string;
  /** Calls that asked for a place. */
  readonly wanted: number;
  /** Places that the worker knows it was given. */
  readonly granted: number;
  /** Calls that ended. */
  readonly finished: number;
  readonly limits: ProviderLimits;
  readonly bounds?: ProviderBounds;
}

/** Answer of update `take`. `askAgainMs`: the ledger could not hold the request, so the worker asks again after this time. */
export interface PlacesAnswer {
  readonly granted: number;
  readonly askAgainMs?: number;
}

/** A worker as the ledger of a provider knows it. */
export interface PlacesWorker {
  readonly worker: string;
  readonly wanted: number;
  readonly granted: number;
  readonly finished: number;
  /** Position in the queue, while it waits for places. */
  readonly queued: number;
  /** End of its lease, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** The state of a provider's ledger, which continue-as-new carries over. */
export interface ProviderLedgerState {
  readonly v: 1;
  readonly provider: string;
  readonly limits: ProviderLimits;
  readonly bounds: ProviderBounds;
  readonly workers: readonly PlacesWorker[];
  /** Starts of the last minute: the number of a sixtieth of a minute since 1970, and how many calls began in it. */
  readonly starts: readonly (readonly [part: number, calls: number])[];
  /** The last position in the queue. */
  readonly queued: number;
}

/** Result of query `status` of a provider's ledger. */
export interface ProviderStatus {
  readonly provider: string;
  readonly limits: ProviderLimits;
  readonly callsAtOnce: number;
  readonly callsInMinute: number;
  readonly waiting: number;
  readonly workers: number;
}
