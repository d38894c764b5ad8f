import { describe, expect, it } from 'vitest';
import { TENANT_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { TenantLimits, TenantRequest } from '../../../src/contracts/schemas/ledger.js';
import { TenantAccounts } from '../../../src/workflows/ledgers/tenant-accounts.js';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const MIDNIGHT = Date.parse('2026-11-24T00:00:00Z');

describe('the accounts of a tenant', () => {
  it('a place goes to the run that asked first, and asking again keeps the position', () => {
    const accounts = TenantAccounts.empty('acme');
    const limits = { maxRuns: 1 };
    for (const run of ['a', 'b', 'c']) accounts.ask(request(run, limits), NOON);
    expect(kinds(accounts)).toEqual(['a granted', 'b waits', 'c waits']);
    accounts.ask(request('b', limits, { n: 2 }), NOON + 1);
    expect(accounts.advance(NOON + 1)).toMatchObject([{ runId: 'b', n: 2, kind: 'waits' }]);
    accounts.leave({ runId: 'a', chain: 'a1', costUsd: 0 }, NOON + 2);
    expect(kinds(accounts)).toEqual(['b granted']);
    expect(accounts.status(NOON)).toMatchObject({ runs: 1, waiting: ['c'], waitingCount: 1 });
  });

  it('a run of the same id and another first execution takes neither the place nor the position of the one before it', () => {
    const accounts = TenantAccounts.empty('acme');
    const limits = { maxRuns: 1 };
    accounts.ask(request('a', limits), NOON);
    accounts.ask(request('b', limits), NOON);
    accounts.advance(NOON);
    accounts.ask({ ...request('a', limits), chain: 'a2' }, NOON);
    expect(kinds(accounts)).toEqual(['b granted', 'a waits']);
    // the report of the earlier one comes late
    accounts.leave({ runId: 'a', chain: 'a1', costUsd: 1 }, NOON);
    expect(accounts.status(NOON).waiting).toEqual(['a']);
  });

  it('leases never exceed the money of the day, and what a run did not spend goes to the next one', () => {
    const limits = { maxCostUsdPerDay: 1 };
    const accounts = TenantAccounts.empty('acme');
    const runs = Array.from({ length: 60 }, (_, index) => `r${index}`);
    for (const run of runs) accounts.ask(request(run, limits), NOON);
    const answers = accounts.advance(NOON);
    const granted = answers.filter(({ kind }) => kind === 'granted');
    expect(granted).toHaveLength(1 / TENANT_LIMITS.leaseFraction);
    expect(granted[0]).toMatchObject({ lease: { usd: 0.02, untilMs: MIDNIGHT } });
    expect(answers.at(-1)).toMatchObject({
      kind: 'waits',
      waitsFor: 'money of tenant acme (0.00 of 1.00 USD spent, 1.00 with runs at work), at the latest until 2026-11-24T00:00:00.000Z',
    });
    // its last call cost more than its lease: the rest of the day is smaller
    accounts.leave({ runId: 'r0', chain: 'r01', costUsd: 0.05 }, NOON);
    expect(accounts.advance(NOON)).toEqual([]);
    expect(accounts.status(NOON)).toMatchObject({ spentUsd: 0.05 });
    accounts.leave({ runId: 'r1', chain: 'r11', costUsd: 0 }, NOON);
    accounts.leave({ runId: 'r2', chain: 'r21', costUsd: 0 }, NOON);
    expect(kinds(accounts)).toEqual(['r50 granted']);
  });

  it('at midnight UTC the money is there again, and a call that began before counts for the day before', () => {
    const limits = { maxCostUsdPerDay: 0.1 };
    const accounts = TenantAccounts.empty('acme');
    accounts.ask(request('a', limits), NOON);
    accounts.ask(request('late', limits), NOON);
    accounts.advance(NOON);
    accounts.ask(request('a', limits, { n: 2, costUsd: 0.2 }), NOON);
    expect(kinds(accounts)).toEqual(['a waits']);
    expect(accounts.advance(MIDNIGHT - 1)).toEqual([]);
    expect(accounts.advance(MIDNIGHT)).toMatchObject([
      { runId: 'a', kind: 'granted', lease: { usd: 0.002, untilMs: accounts.dayEnd(MIDNIGHT) } },
    ]);
    expect(accounts.status(MIDNIGHT)).toMatchObject({ day: '2026-11-24T00:00:00.000Z', spentUsd: 0 });
    accounts.leave({ runId: 'late', chain: 'late1', costUsd: 0.05 }, MIDNIGHT);
    expect(accounts.status(MIDNIGHT).spentUsd).toBe(0);
    expect(accounts.isForgettable(MIDNIGHT)).toBe(false);
    accounts.leave({ runId: 'a', chain: 'a1', costUsd: 0.201 }, MIDNIGHT);
    expect(accounts.status(MIDNIGHT).spentUsd).toBeCloseTo(0.001, 9);
    // the spending of today is remembered until the day is over
    expect(accounts.isForgettable(MIDNIGHT)).toBe(false);
    expect(accounts.isForgettable(accounts.dayEnd(MIDNIGHT))).toBe(true);
  });

  it('a run that is lost counts with its whole lease', () => {
    const accounts = TenantAccounts.empty('acme');
    accounts.ask(request('a', { maxCostUsdPerDay: 1 }), NOON);
    accounts.advance(NOON);
    accounts.lost({ runId: 'a', chain: 'a0' }, NOON);
    expect(accounts.status(NOON).runs).toBe(1);
    accounts.lost({ runId: 'a', chain: 'a1' }, NOON);
    expect(accounts.status(NOON)).toMatchObject({ runs: 0, spentUsd: 0.02, leasedUsd: 0 });
  });

  it('a run that has a place gets money before a run without one', () => {
    const limits = { maxRuns: 5, maxCostUsdPerDay: 1 };
    const accounts = TenantAccounts.empty('acme');
    accounts.ask(request('a', limits), NOON);
    accounts.advance(NOON);
    accounts.ask(request('new', limits), NOON);
    accounts.ask(request('a', limits, { n: 2, costUsd: 1 }), NOON);
    accounts.advance(NOON);
    accounts.limit({ maxRuns: 5, maxCostUsdPerDay: 1.01 });
    expect(kinds(accounts)).toEqual(['a granted']);
    accounts.limit({});
    expect(kinds(accounts)).toEqual(['new granted']);
  });

  it('a full queue says so, and remembers no more', () => {
    const limits = { maxRuns: 1 };
    const accounts = TenantAccounts.empty('acme');
    for (let index = 0; index <= TENANT_LIMITS.waitersMax; index += 1) {
      accounts.ask(request(`r${index}`, limits), NOON);
      accounts.advance(NOON);
    }
    accounts.ask(request('one-too-many', limits), NOON);
    expect(accounts.advance(NOON)).toMatchObject([
      { runId: 'one-too-many', waitsFor: `a place in the queue of tenant acme (${TENANT_LIMITS.waitersMax} runs wait)` },
    ]);
    expect(JSON.stringify(accounts.carry()).length).toBeLessThan(512 * 1024);
    expect(new TenantAccounts(accounts.carry()).status(NOON)).toEqual(accounts.status(NOON));
  });

  it('each run is checked in turn', () => {
    const accounts = TenantAccounts.empty('acme');
    for (let index = 0; index < 60; index += 1) accounts.ask(request(`r${index}`, {}), NOON);
    accounts.advance(NOON);
    const checked = [...accounts.toCheck(NOON + 1), ...accounts.toCheck(NOON + 2)].map(({ runId }) => runId);
    expect(new Set(checked).size).toBe(60);
  });
});

function request(runId: string, limits: TenantLimits, more: Partial<TenantRequest> = {}): TenantRequest {
  return { runId, chain: `${runId}1`, n: 1, costUsd: 0, limits, ...more };
}

function kinds(accounts: TenantAccounts): string[] {
  return accounts.advance(NOON).map(({ runId, kind }) => `${runId} ${kind}`);
}
