import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, inject } from 'vitest';
import { CrashError, type CrashOptions, type CrashReport, crashEverywhere, type ScriptInput } from '../../../../src/testing/index.js';

const AGENT = { config: fileURLToPath(new URL('../fixtures/perdure.config.mjs', import.meta.url)), agent: 'clerk' };

/** Kills one worker once: after a tool took effect, and before its result was reported. For a script whose first step has one call. */
export const KILL_AFTER_TOOL = { seed: 9, runs: 1, faults: ['kill-worker'], messages: 0 } as const;

/** Crashes the clerk of the fixture config, with a ledger of each test's own. */
export function useClerk() {
  let folder: string;
  let lines: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-crash-test-'));
    await writeFile(join(folder, 'ledger'), '');
    lines = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const crash = (tool: string, options: CrashOptions, script?: ScriptInput): Promise<CrashReport> => {
    const played = script ?? { steps: [{ toolCalls: [{ name: tool, args: { what: 'x' } }] }, { text: 'All done.' }] };
    const env = { ...process.env, PERDURE_TEMPORAL_BIN: inject('temporalBinary'), LEDGER: join(folder, 'ledger'), ...options.env };
    return crashEverywhere(AGENT, played, { ...options, env, say: (line) => lines.push(line) });
  };
  return {
    crash,
    /** Crashes it, which must find a failure. */
    failing: async (tool: string, options: CrashOptions): Promise<CrashError> => {
      const error: unknown = await crash(tool, options).catch((thrown: unknown) => thrown);
      if (!(error instanceof CrashError)) throw new Error(`no failure was found, but ${String(error)}`);
      return error;
    },
    /** The lines about failures. */
    failures: () => lines.filter((line) => line.includes('replay with')),
    /** The first line, which names the seed. */
    opening: () => lines[0],
    /** A path in the folder of the test. */
    path: (name: string) => join(folder, name),
    /** The lines of the ledger: of the run without faults, and of the crashed ones. */
    entries: async () => (await readFile(join(folder, 'ledger'), 'utf8')).split('\n').filter((line) => line !== ''),
  };
}
