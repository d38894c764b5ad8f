import { COMPACTION_LIMITS, DECISION_LIMITS, LOOP_LIMITS, RUN_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';

/**
 * The policy of runs that version 0.1 prepared, before guards existed: such a run keeps its behaviour. It is written out and not parsed,
 * because a schema costs half a mebibyte of memory in every run.
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
  askExpireMs: DECISION_LIMITS.approvalExpireMsDefault,
  memo: false,
  output: { bytesMax: TOOL_LIMITS.outputBytesMax, linesMax: TOOL_LIMITS.outputLinesMax, keep: 'auto' },
  onBudget: 'finish',
  compaction: { strategies: [], softFraction: COMPACTION_LIMITS.softFraction, keepRecentTokens: COMPACTION_LIMITS.keepRecentTokens },
  drain: 'all',
  keepRestOfRefused: false,
  limitsDirectives: false,
  judgement: 1,
  limitsBadArguments: false,
  reportsTurns: false,
  limitsInbox: false,
  continuesAtFloods: false,
  tellsOwnSubagents: false,
  stopsOutrankFailures: false,
  firstToolChoice: 'auto',
  thinkingOutput: 'apart',
  thinkingOffWhenEmpty: false,
  failoverGate: 'off',
  weighsFallbacks: false,
  provesLosses: false,
  fallbackOnAuth: true,
  readToolsParallelMax: RUN_LIMITS.readToolsParallelMax,
  localReadTools: false,
};
