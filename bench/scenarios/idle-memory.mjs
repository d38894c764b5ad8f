import { rmSync, writeFileSync } from 'node:fs';
import { Client } from '@temporalio/client';
import { round } from '../statistics.mjs';
import { until } from '../until.mjs';
import { withWorkerProcess } from '../worker-process.mjs';

/** Together as many as a worker runs activities at once, and as it has runs in its cache. */
const RUNS = 180;
const WARM_UP_RUNS = 20;

/**
 * (l): what a worker process with 200 runs holds for each of them while they wait in their first tool, beside bare activities: the growth of its resident
 * memory, after some runs that warmed it up.
 */
export async function idleMemory(arena) {
  const bareKiB = await measure(arena, 'bare');
  const perdureKiB = await measure(arena, 'perdure');
  return { runs: RUNS + WARM_UP_RUNS, bareKiB, perdureKiB };
}

async function measure(arena, kind) {
  const taskQueue = `bench-idle-${kind}`;
  return withWorkerProcess(arena, { kind, taskQueue, execArgv: ['--expose-gc'] }, async (worker) => {
    const { workflow } = new Client({ connection: arena.native });
    const started = [];
    const startRuns = async (count) => {
      const before = (await arena.marks()).length;
      for (let index = 0; index < count; index += 1) started.push(await startRun(workflow, kind, `${taskQueue}-${started.length}`));
      await until(async () => (await arena.marks()).length >= before + count, 'all runs to wait in the tool', 300_000);
      return worker.usage();
    };
    const before = await startRuns(WARM_UP_RUNS);
    const after = await startRuns(RUNS);
    writeFileSync(arena.env.BENCH_RELEASE, '');
    await Promise.all(started.map((handle) => handle.result()));
    return round((after.rssKiB - before.rssKiB) / RUNS);
  }).finally(() => rmSync(arena.env.BENCH_RELEASE, { force: true }));

  function startRun(workflow, peer, workflowId) {
    const [type, args] =
      peer === 'bare'
        ? ['bareActivities', [workflowId, 2, 'wait']]
        : ['agentRun', [{ v: 1, task: JSON.stringify({ turns: 2, tool: 'wait', id: workflowId }) }]];
    return workflow.start(type, { taskQueue, workflowId, args });
  }
}
