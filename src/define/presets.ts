import { z } from 'zod';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import type { GatePolicy } from '../contracts/schemas/policy.js';
import type { PolicyOptions } from './policy-options.js';

/** Runners whose behaviour a preset reproduces. */
export const PresetName = z.enum(['operator', 'zkit', 'openclaw', 'forge', 'orbiter']);
export type PresetName = z.infer<typeof PresetName>;

/** Makes `autoExtend` from the turn limit of a run: `step` is a fraction of the limit, `hardCap` a multiple of it. */
export interface ExtensionRule {
  readonly stepFraction: number;
  readonly stepMin: number;
  readonly hardCapFactor: number;
  readonly hardCapMax: number;
}

/** The settings of a preset. An absent setting has its default. */
export interface Preset {
  readonly maxTurns: number;
  /** Working time of a run in milliseconds. */
  readonly deadlineMs?: number;
  readonly extension?: ExtensionRule;
  readonly gate?: Partial<GatePolicy>;
  readonly policy: PolicyOptions;
}

/** Parallel `read` calls of runners that start a whole batch at once. */
const WHOLE_BATCH = 16;

/** A limit so small that compaction keeps its minimum of four messages. */
const KEEP_FOUR_MESSAGES = 1;

/** No practical limit, for runners that do not count lines. */
const NO_LINE_LIMIT = 1_000_000;

/**
 * The settings of each runner that differ from the defaults. One difference remains: `orbiter` and `operator` compare calls only, while the
 * loop guard also compares results, so a poll with new results is not a loop. docs/reference/presets.md is generated from this table.
 */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  operator: {
    maxTurns: 25,
    extension: { stepFraction: 0.5, stepMin: 10, hardCapFactor: 4, hardCapMax: 500 },
    gate: {
      rules: ['rm -rf', 'mkfs', 'dd', 'shutdown', 'reboot'].flatMap((command) =>
        ['run_command', 'start_command'].map((tool) => ({ tool, command, decision: 'block', reason: 'destructive command' }) as const),
      ),
    },
    policy: {
      finaliseAtRemainingTurns: 0,
      loop: { nudgeAt: 3, blockAt: 3, stopAt: 3 },
      quality: false,
      memo: false,
      output: { exact: { above: 1_200, head: 700, tail: 260 } },
      compaction: { strategies: [] },
      readToolsParallelMax: WHOLE_BATCH,
    },
  },
  zkit: {
    maxTurns: 12,
    policy: {
      finaliseAtRemainingTurns: 0,
      loop: { onLoop: 'off' },
      output: { keep: 'tail' },
      compaction: { keepRecentTokens: KEEP_FOUR_MESSAGES },
      readToolsParallelMax: 1,
    },
  },
  openclaw: {
    maxTurns: 10_000,
    deadlineMs: 600_000,
    policy: {
      finaliseAtRemainingTurns: 0,
      loop: { onLoop: 'off', nudgeAt: 10, blockAt: 20, stopAt: 30 },
      quality: false,
      memo: false,
      output: { bytesMax: 16_000, linesMax: NO_LINE_LIMIT, keep: 'head-tail' },
      compaction: { strategies: ['summary'], softFraction: 0.95, keepRecentTokens: 20_000 },
      drain: 'one',
      readToolsParallelMax: WHOLE_BATCH,
    },
  },
  forge: {
    maxTurns: 50,
    policy: {
      onMaxTurns: 'error',
      finaliseAtRemainingTurns: 0,
      loop: { onLoop: 'off' },
      completion: { checks: ['edits-verified', 'phases-done'], attemptsMax: 1 },
      quality: false,
      memo: false,
      output: { bytesMax: TOOL_LIMITS.outputBytesCeiling, linesMax: NO_LINE_LIMIT, keep: 'head' },
      compaction: { strategies: ['trim'] },
      readToolsParallelMax: 1,
    },
  },
  orbiter: {
    maxTurns: 10,
    policy: {
      finaliseAtRemainingTurns: 0,
      loop: { onLoop: 'error', nudgeAt: 3, blockAt: 3, stopAt: 3 },
      quality: false,
      memo: false,
      compaction: { strategies: [] },
      readToolsParallelMax: WHOLE_BATCH,
    },
  },
};
