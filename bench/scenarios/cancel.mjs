import { until } from '../until.mjs';

/** (f): how long a cancel takes to reach a running tool. */
export async function cancel(arena) {
  return arena.withWorker('bench-cancel', async (client) => {
    const before = (await arena.marks()).length;
    const { run } = await client.start({ task: JSON.stringify({ turns: 3, tool: 'wait', cancel: true }) });
    await until(async () => (await arena.marks()).length > before, 'the tool to run');
    const cancelledAt = Date.now();
    await run.cancel({ reason: 'bench' });
    const { reason } = await run.result();
    if (reason !== 'cancelled') throw new Error(`the run ended with ${reason}`);
    const stopped = (await arena.marks()).find(({ what, at }) => what === 'stopped' && at >= cancelledAt);
    return { reachedToolAfterMs: stopped.at - cancelledAt };
  });
}
