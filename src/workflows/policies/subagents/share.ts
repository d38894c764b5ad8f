import { SUBAGENT_LIMITS } from '../../../contracts/constants/limits.js';
import type { SubagentShare } from '../../../contracts/schemas/subagent.js';

/** The facts before a sub-agent is started. */
export interface PurseFacts {
  /** What is left of each limit of the parent, without what is reserved for live sub-agents. Absent: no limit. */
  readonly left: SubagentShare;
  /** Calls of the same answer that are still to be started, this one included. */
  readonly calls: number;
}

/**
 * The share of the parent's limits for one sub-agent: an equal part for each call that is still to be started, and one for the parent
 * itself. `spent`: a part is too small to start with.
 */
export function shareOf({ left, calls }: PurseFacts): SubagentShare | 'spent' {
  const parts = calls + 1;
  const tokens = left.tokens === undefined ? undefined : Math.floor(left.tokens / parts);
  const costUsd = left.costUsd === undefined ? undefined : left.costUsd / parts;
  if ((tokens !== undefined && tokens < SUBAGENT_LIMITS.tokensMin) || (costUsd !== undefined && costUsd <= 0)) return 'spent';
  return { ...(tokens === undefined ? {} : { tokens }), ...(costUsd === undefined ? {} : { costUsd }) };
}
