import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { builtWorkflowBundle } from '../../support/built-package.js';
import { KILL_AFTER_TOOL, useClerk } from './support/use-clerk.js';

const KILL = { ...KILL_AFTER_TOOL, workers: 1 };

describe('crashEverywhere finds a planted defect', () => {
  const clerk = useClerk();

  it('a lock that a killed worker leaves behind hangs the run', async () => {
    const { report } = await clerk.failing('reserve', { ...KILL, endsWithinMs: 8_000, env: { DEFECT: 'lock' } });
    expect(report.hung).toBe(1);
    expect(clerk.failures()[0]).toContain('ends-in-time: the run did not end within 8000 ms after the last fault');
  });

  it('a process that a tool leaves behind is reported, and ended', async () => {
    const { report, message } = await clerk.failing('charge', { ...KILL, env: { DEFECT: 'stray' } });
    expect(report.failures).toEqual([]);
    expect(message).toMatch(/nothing-left: process \d+ outlived its worker: sleep 60/u);
  });

  it('a build whose workflow code needs another history fails its workflow task', async () => {
    const other = clerk.path('other-build.js');
    const code = await readFile(builtWorkflowBundle(), 'utf8');
    const planted = code.replace(/^function prepareRun\(.*\{$/mu, '$&\n    setTimeout(() => undefined, 1);');
    expect(planted).not.toBe(code);
    await writeFile(other, planted);
    await clerk.failing('charge', { ...KILL, bundles: [builtWorkflowBundle(), other], endsWithinMs: 8_000 });
    expect(clerk.failures().join('\n')).toMatch(/^no-failed-task: execution \S+: event \d+: NON_DETERMINISTIC_ERROR: /mu);
  });

  it('a script that fails without faults', async () => {
    const script = { steps: [{ text: 'x', fault: { status: 400 } }] };
    await expect(clerk.crash('none', KILL, script)).rejects.toThrow(
      'the run fails without any fault: right-reason: the run ended with error',
    );
  });
}, 240_000);
