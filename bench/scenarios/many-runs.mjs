import { round } from '../statistics.mjs';

/** (b): twenty runs of twenty turns at once. */
export async function manyRuns(arena, { runs = 20, turns = 20 } = {}) {
  return arena.withWorker('bench-many', async (client) => {
    const startedAt = Date.now();
    const started = await Promise.all(
      Array.from({ length: runs }, (_, index) => client.start({ task: JSON.stringify({ turns, index }), maxTurns: turns + 10 })),
    );
    const results = await Promise.all(started.map(({ run }) => run.result()));
    const seconds = (Date.now() - startedAt) / 1_000;
    const all = results.reduce((sum, result) => sum + result.turns, 0);
    if (all !== runs * turns) throw new Error(`${all} turns, not ${runs * turns}`);
    return { runs, turns, turnsPerSecond: round(all / seconds) };
  });
}
