import type { RunPolicy } from '../../contracts/schemas/policy.js';

/** What the decision needs, once a turn cap is reached. */
export interface TurnCapFacts {
  readonly autoExtend: RunPolicy['autoExtend'];
  readonly maxTurns: number;
  /** The last turn was more of the same: more turns would be too. */
  readonly isRepeating: boolean;
}

/** The turn cap a run that gets on gives itself, never above its hard cap; undefined when the present one stands. */
export function extendedCap({ autoExtend, maxTurns, isRepeating }: TurnCapFacts): number | undefined {
  if (!autoExtend || isRepeating || maxTurns >= autoExtend.hardCap) return undefined;
  return Math.min(autoExtend.hardCap, maxTurns + autoExtend.step);
}
