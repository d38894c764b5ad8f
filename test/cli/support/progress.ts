import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import type { Progress, RunResult } from '../../../src/contracts/schemas/run.js';

/** The progress of a run that asks its model. */
export const PROGRESS = {
  status: 'running',
  phase: 'model',
  turn: 7,
  maxTurns: 9,
  usage: NO_USAGE,
  inbox: 0,
  pendingApprovals: 0,
  agent: 'a',
  model: 'm',
} as const satisfies Progress;

/** The result of a run that is completed. */
export const COMPLETED: RunResult = {
  v: 1,
  runId: 'r',
  executionId: 'e',
  reason: 'completed',
  output: 'done',
  turns: 1,
  toolCalls: 0,
  usage: NO_USAGE,
  models: [],
  unconsumed: [],
};
