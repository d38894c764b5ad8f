import type { TemporalAccess } from '../temporal/connection.js';
import { listSession } from './list-runs.js';

/** The total cost of the runs of a session. */
export interface SessionCost {
  readonly session: string;
  readonly runs: number;
  readonly turns: number;
  /** In USD, as of the last status change of each run. */
  readonly costUsd: number;
  /** The number of runs without a cost: the price of the model is unknown, or the run has not started. */
  readonly unpriced: number;
}

/** Adds up the cost of the runs of a session. Throws as `listRuns` does. */
export async function sessionCost(access: TemporalAccess, session: string): Promise<SessionCost> {
  const runs = await listSession(access, session);
  return {
    session,
    runs: runs.length,
    turns: sum(runs.map(({ turns }) => turns)),
    costUsd: sum(runs.map(({ costUsd }) => costUsd)),
    unpriced: runs.filter(({ costUsd }) => costUsd === undefined).length,
  };
}

function sum(amounts: readonly (number | undefined)[]): number {
  return amounts.reduce<number>((total, amount = 0) => total + amount, 0);
}
