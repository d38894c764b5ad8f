import { describe, expect, it } from 'vitest';
import { KILL_AFTER_TOOL, useClerk } from './support/use-clerk.js';

describe('crashEverywhere', () => {
  const clerk = useClerk();

  it('a tool whose effect is found by its reconcile takes effect once, though its worker is killed', async () => {
    const report = await clerk.crash('refund', KILL_AFTER_TOOL);
    expect(report).toMatchObject({ runs: 1, passed: 1, missed: 0, kills: 1, doubled: 0, failures: [] });
    expect(report.sometimes).toMatchObject({ killedBeforeReport: 1, tookOver: 1 });
    expect(await clerk.entries()).toHaveLength(2);
    expect(clerk.opening()).toMatch(/^crashEverywhere: seed 9\b/u);
    expect(clerk.failures()).toEqual([]);
  });

  it('planted: a reconcile that never finds the effect doubles it, and the failure names the seed and the plan, which replay it', async () => {
    const options = { ...KILL_AFTER_TOOL, workers: 1, env: { DEFECT: 'reconcile' } };
    const { report, message } = await clerk.failing('refund', options);
    const [line] = clerk.failures();
    expect(report.doubled).toBeGreaterThan(0);
    expect(line).toMatch(/^once-at-most-once: refund returned 2 times, for idempotency key /u);
    expect(line).toContain('replay with { seed: 9, runs: 1 }');
    expect(line).toContain('kill-worker at boundary 8 (callTool refund: after)');
    expect(message).toContain(line);
    const seed = Number(/seed: (?<seed>\d+)/u.exec(line ?? '')?.groups?.['seed']);
    await clerk.failing('refund', { ...options, seed, runs: 1 });
    const plans = clerk.failures().map((failure) => failure.slice(failure.indexOf('replay with')));
    expect(plans).toHaveLength(2);
    expect(plans[1]).toBe(plans[0]);
  });

  it('a fault that never strikes is no pass', async () => {
    const { message } = await clerk.failing('charge', { seed: 0, runs: 1, workers: 1, faults: ['mixed-builds'] });
    expect(message).toContain('no run was struck by a fault, so nothing was tested');
    expect(message).toContain('without mixed-builds (it needs the option bundles');
  });

  it.each([
    [{ runs: 0 }, 'runs: 0 is not an integer from 1 to'],
    [{ workers: 9 }, 'workers: 9 is not an integer from 1 to 4'],
    [{ faults: ['earthquake' as 'partition'] }, 'faults: "earthquake" is no fault'],
  ])('refuses the options %j', async (options, problem) => {
    await expect(clerk.crash('charge', options)).rejects.toThrow(problem);
  });
}, 240_000);
