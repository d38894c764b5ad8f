import { COMPACTION_LIMITS, DECISION_LIMITS, LOOP_LIMITS, RUN_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';

/**
 * What runs of 0.1 did, before there were guards: a run that was prepared then goes on as it began. Written out, not parsed: it is
 * loaded with every run, and a schema at work would cost each of them half a mebibyte.
 */
export const POLICY_OF_0_1: RunPolicy = {
  onMaxTurns: 'result',
  finaliseAtRemainingTurns: RUN_LIMITS.finaliseAtRemainingTurns,
  loop: { onLoop: 'off', nudgeAt: LOOP_LIMITS.nudgeAt, blockAt: LOOP_LIMITS.blockAt, stopAt: LOOP_LIMITS.stopAt },
  completion: { checks: [], phases: [], planTool: 'update_plan', attemptsMax: RUN_LIMITS.gateAttemptsMax, custom: false },
  quality: false,
  gate: { profile: 'all', rules: [] },
  gateFunction: false,
  hooks: { beforeRun: false, afterRun: false, error: false, unknownTools: false },
  approvalExpireMs: DECISION_LIMITS.approvalExpireMsDefault,
  memo: false,
  output: { bytesMax: TOOL_LIMITS.outputBytesMax, linesMax: TOOL_LIMITS.outputLinesMax, keep: 'auto' },
  onBudget: 'finish',
  compaction: { strategies: [], softFraction: COMPACTION_LIMITS.softFraction, keepRecentTokens: COMPACTION_LIMITS.keepRecentTokens },
  drain: 'all',
  keepRestOfRefused: false,
  firstToolChoice: 'auto',
  thinkingOutput: 'apart',
  thinkingOffWhenEmpty: false,
  failoverGate: 'off',
  weighsFallbacks: false,
  fallbackOnAuth: true,
  readToolsParallelMax: RUN_LIMITS.readToolsParallelMax,
};
