import { z } from 'zod';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import type { GatePolicy } from '../contracts/schemas/policy.js';
import type { PolicyOptions } from './policy-options.js';

/** Runners whose behaviour can be had by name. */
export const PresetName = z.enum(['operator', 'zkit', 'openclaw', 'forge', 'orbiter']);
export type PresetName = z.infer<typeof PresetName>;

/** How a turn cap extends itself, by the cap that a run has: a share of it at a time, up to a multiple of it. */
export interface ExtensionRule {
  readonly stepFraction: number;
  readonly stepMin: number;
  readonly hardCapFactor: number;
  readonly hardCapMax: number;
}

/** What a preset sets. What is left out is the default here. */
export interface Preset {
  readonly maxTurns: number;
  /** Working time of a run. */
  readonly deadlineMs?: number;
  readonly extension?: ExtensionRule;
  readonly gate?: Partial<GatePolicy>;
  readonly policy: PolicyOptions;
}

/** More `read` calls at once than any model asks for: runners that start a whole batch together. */
const WHOLE_BATCH = 16;

/** No message fits, so that only the fewest are kept that compaction leaves alone: four. */
const KEEP_FOUR_MESSAGES = 1;

/** Longer than any output: where a runner counts no lines. */
const NO_LINE_LIMIT = 1_000_000;

/**
 * The options that reproduce each runner where it differs from the defaults here. `orbiter` and `operator` compare calls only, and the
 * guard here also their results: a poll that brings news is no loop. docs/presets.md has the same as a table, and a test compares the two.
 */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  operator: {
    maxTurns: 25,
    extension: { stepFraction: 0.5, stepMin: 10, hardCapFactor: 4, hardCapMax: 500 },
    gate: {
      rules: ['rm -rf', 'mkfs', 'dd', 'shutdown', 'reboot'].map((command) => ({
        tool: 'run_command',
        command,
        decision: 'block',
        reason: 'destructive command',
      })),
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
