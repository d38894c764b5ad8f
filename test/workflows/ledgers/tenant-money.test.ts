import { describe, expect, it } from 'vitest';
import { call, say } from '../../support/agent-worker.js';
import { look } from '../../support/tools/sample-tools.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { ledgerOf, replay, rules, statusOf } from './support/tenants.js';

/** 10 tokens read and 5 written: a cent for each call. */
const PRICE = { input: 500, output: 1_000 };

describe('the money of a tenant for a day', { timeout: 120_000 }, () => {
  const { worker, start } = useWorkers();

  it('two runs wait for the next day when it is spent, exceed it by a call of each at most, and lose nothing', async () => {
    const calls: number[] = [];
    const bounds = { ...rules({}).bounds, dayMs: 0 };
    const on = await worker({
      tenants: { ...rules({ maxCostUsdPerDay: 0.02 }), bounds },
      model: ({ messages }) => {
        calls.push(Math.floor(Date.now() / bounds.dayMs));
        return messages.length < 3 ? call(['look', { n: messages.length }]) : say('done');
      },
      tools: [look],
      price: PRICE,
      policy: {},
    });
    bounds.dayMs = dayThatBegins();
    const runs = [await start(on, { tenant: 'acme' }), await start(on, { tenant: 'acme' })];
    await until(async () => (await Promise.all(runs.map((run) => run.progress()))).some(({ status }) => status === 'waiting'), 'a wait');
    const waiting = (await Promise.all(runs.map((run) => run.progress()))).find(({ status }) => status === 'waiting');
    expect(waiting?.waitingFor).toMatch(/^money of tenant acme \(0\.\d\d(?:\d{4})? of 0\.02 USD spent/u);
    for (const run of runs) expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', turns: 2 });
    expect(calls).toHaveLength(4);
    const perDay = [...new Set(calls)].map((day) => calls.filter((other) => other === day).length);
    expect(perDay.length).toBeGreaterThan(1);
    // two cents of the day, and one call of each run
    expect(Math.max(...perDay)).toBeLessThanOrEqual(2 + runs.length);
    await until(async () => (await ledgerOf(on, 'acme').describe()).status.name === 'COMPLETED', 'the end of the ledger');
    for (const handle of [...runs.map((run) => run.handle), ledgerOf(on, 'acme')]) await replay(handle);
  });

  it('a higher limit of the config lets waiting runs go on before the day is over', async () => {
    let maxCostUsdPerDay = 0.01;
    const on = await worker({
      tenants: { ...rules({}), limitsOf: () => ({ maxCostUsdPerDay }) },
      model: ({ messages }) => (messages.length < 3 ? call(['look', { n: 1 }]) : say('done')),
      tools: [look],
      price: PRICE,
    });
    const run = await start(on, { tenant: 'acme' });
    await until(
      async () => (await run.progress()).waitingFor?.startsWith('money of tenant acme (0.01 of 0.01 USD spent)') === true,
      'the wait',
    );
    maxCostUsdPerDay = 1;
    expect(await run.result()).toMatchObject({ reason: 'completed', costUsd: 0.02 });
    await until(async () => (await statusOf(on, 'acme'))?.runs === 0, 'the end of the run in the ledger');
    // what was spent today is remembered
    expect(await statusOf(on, 'acme')).toMatchObject({ spentUsd: 0.02, leasedUsd: 0 });
    await ledgerOf(on, 'acme').terminate();
  });
});

/** The length of a day of 10 to 12 s that begins just now: what is spent in the next seconds is spent on one day. */
function dayThatBegins(): number {
  const now = Date.now();
  const lengths = Array.from({ length: 2_000 }, (_, more) => 10_000 + more);
  return lengths.reduce((best, length) => (now % length < now % best ? length : best));
}
