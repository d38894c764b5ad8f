import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { Progress, RunResult } from '../../contracts/schemas/run.js';
import type { RunDescription } from './describe-run.js';

/** The progress of a closed run, from its result, for when no worker reports it. */
export function progressOfClosed(result: RunResult, described: RunDescription): Progress {
  return {
    status: result.reason,
    phase: 'closed',
    turn: result.turns,
    maxTurns: described.maxTurns ?? Math.max(result.turns, RUN_LIMITS.maxTurnsDefault),
    usage: result.usage,
    ...(result.costUsd === undefined ? {} : { costUsd: result.costUsd }),
    pendingApprovals: 0,
    inbox: result.unconsumed.length,
    agent: result.agents?.at(-1) ?? described.agent ?? 'default',
    ...(result.agents ? { agents: result.agents } : {}),
    model: result.switches?.at(-1)?.to ?? result.models.at(-1) ?? described.model ?? 'unknown',
  };
}
