import { median, round } from '../statistics.mjs';

const CHILDREN = 5;
const TURNS = 20;
const ROUNDS = 3;

/**
 * (o): a lead with five sub-agents at once, of twenty turns each, beside one run that takes as many turns one after the other: the time of the
 * tree over the sum of its turns.
 */
export async function subAgents(arena) {
  return arena.withWorker('bench-sub-agents', async (client) => {
    const timed = async (input) => {
      const startedAt = performance.now();
      const { run } = await client.start({ ...input, maxTurns: CHILDREN * TURNS + 10 });
      const result = await run.result();
      if (result.reason !== 'completed') throw new Error(`${result.runId} ended: ${result.reason}`);
      return performance.now() - startedAt;
    };
    const tree = (id) => timed({ agent: 'lead', task: JSON.stringify({ subagents: CHILDREN, turns: TURNS, id }) });
    const single = (id) => timed({ agent: 'scout', task: JSON.stringify({ turns: CHILDREN * TURNS, id }) });
    await tree('warm-up');
    const rounds = [];
    for (let at = 0; at < ROUNDS; at += 1) rounds.push({ tree: await tree(`tree-${at}`), single: await single(`single-${at}`) });
    const [treeMs, singleMs] = [median(rounds.map((all) => all.tree)), median(rounds.map((all) => all.single))];
    return { children: CHILDREN, turns: TURNS, treeMs: round(treeMs), sumMs: round(singleMs), ratio: round(treeMs / singleMs) };
  });
}
