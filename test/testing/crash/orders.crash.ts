import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';
import { crashEverywhere } from '../../../src/testing/index.js';

// `npm run test:crash`: three minutes with a fresh seed. `npm run soak`: an hour, two runs at a time. CRASH_SEED repeats a seed; with
// CRASH_RUNS=1 its plan alone.
const FOR_MS = Number(process.env['CRASH_FOR_MS'] ?? 180_000);
const LONG_MS = 1_800_000;
/** One run takes less than two minutes. */
const SHOWN_MS = 180_000;
/** The last run, with a fault longer than a heartbeat timeout, ends after the time is over. */
const MORE_MS = 600_000;

const CONFIG = fileURLToPath(new URL('fixtures/perdure.config.mjs', import.meta.url));

/** Each effect alone, several in one answer, and a tool that takes long enough for any fault. */
const SCRIPT = {
  steps: [
    { toolCalls: [call('look', 'order'), call('look', 'stock'), call('charge', 'order')] },
    { toolCalls: [call('reserve', 'stock'), call('refund', 'gift')] },
    { text: 'Half of it is done.', toolCalls: [call('refund', 'order', 1_500)] },
    { toolCalls: [call('charge', 'gift', 800), call('reserve', 'gift')] },
    { text: 'All done.' },
  ],
};

it(
  'an agent with every kind of tool keeps its promises under every fault',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-orders-'));
    const ledger = join(folder, 'ledger');
    await writeFile(ledger, '');
    const lines: string[] = [];
    const say = (line: string): void => {
      lines.push(line);
      console.log(line);
    };
    try {
      const { CRASH_SEED, CRASH_RUNS } = process.env;
      const report = await crashEverywhere({ config: CONFIG, agent: 'clerk' }, SCRIPT, {
        ...(CRASH_SEED === undefined ? {} : { seed: Number(CRASH_SEED) }),
        ...(CRASH_RUNS === undefined ? { forMs: FOR_MS } : { runs: Number(CRASH_RUNS) }),
        parallel: Number(process.env['CRASH_PARALLEL'] ?? 1),
        saveTo: 'coverage/crash',
        say,
        env: { ...process.env, PERDURE_TEMPORAL_BIN: inject('temporalBinary'), LEDGER: ledger },
        countEffects: async (key) => (await readFile(ledger, 'utf8')).split('\n').filter((line) => line.startsWith(`${key} `)).length,
      });
      const { runs, passed, missed, kills, sometimes } = report;
      expect(passed + missed).toBe(runs);
      expect(kills).toBeGreaterThan(0);
      // it shows each minute how far it is, after the run that is under way
      const shown = lines.filter((line) => line.startsWith('runs ')).length;
      expect(shown).toBeGreaterThanOrEqual(CRASH_RUNS === undefined && FOR_MS >= SHOWN_MS ? 1 : 0);
      // in three minutes on a busy machine, a rare case may not come up
      const mustComeUp = FOR_MS >= LONG_MS ? Object.entries(sometimes) : [];
      expect(mustComeUp.filter(([, count]) => count === 0)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  FOR_MS + MORE_MS,
);

function call(name: string, what: string, ms?: number): { name: string; args: Record<string, string | number> } {
  return { name, args: ms === undefined ? { what } : { what, ms } };
}
