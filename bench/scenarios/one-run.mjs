import { Client } from '@temporalio/client';
import { round, summarizeTurns } from '../statistics.mjs';

/** (a), (c), (d): one run of so many turns, and what its history weighs. */
export async function oneRun(arena, turns) {
  return arena.withWorker('bench-one', async (client) => {
    await arena.model.takeTimes();
    const { run } = await client.start({ task: JSON.stringify({ turns }), maxTurns: turns + 10 });
    const result = await run.result();
    if (result.reason !== 'completed' || result.turns !== turns) throw new Error(`the run ended otherwise: ${JSON.stringify(result)}`);
    const summary = summarizeTurns(await arena.model.takeTimes());
    return { turns, ...summary, ...(await historyOf(arena, result, turns)) };
  });
}

async function historyOf(arena, { runId, executionId }, turns) {
  const client = new Client({ connection: arena.native });
  const { historyLength, historySize } = await client.workflow.getHandle(runId, executionId).describe();
  return { historyBytesPerTurn: Math.round(Number(historySize) / turns), eventsPerTurn: round(historyLength / turns) };
}
