import type { TemporalAccess } from '../temporal/connection.js';
import { listSession } from './list-runs.js';

/** What the runs of a session cost together. */
export interface SessionCost {
  readonly session: string;
  readonly runs: number;
  readonly turns: number;
  /** USD, of each run as of its last change of status. */
  readonly costUsd: number;
  /** How many of the runs have no cost: their model's price is unknown, or they have not begun. */
  readonly unpriced: number;
}

/** Adds up what the runs of a session cost. Throws as `listRuns` does. */
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
