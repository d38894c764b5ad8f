import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import type { Progress } from '../../../src/contracts/schemas/run.js';

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
