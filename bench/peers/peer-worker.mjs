import { fileURLToPath } from 'node:url';
import { Client, WorkflowFailedError } from '@temporalio/client';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { round, summarizeTurns } from '../statistics.mjs';
import { createPeerActivities } from './activities.mjs';

const SILENT = Object.fromEntries(['log', 'trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]));
let bundle;

/** Runs one of the peers' workflows on the arena's server and measures its turns as those of a run. */
export async function measurePeer(arena, { workflow, args, turns }) {
  bundle ??= await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('workflows.mjs', import.meta.url)), logger: SILENT });
  const taskQueue = 'bench-peers';
  const activities = createPeerActivities(arena.model);
  const worker = await Worker.create({ connection: arena.native, taskQueue, workflowBundle: bundle, activities });
  const client = new Client({ connection: arena.native });
  await arena.model.takeTimes();
  const workflowId = `bench-${workflow}-${turns}`;
  const ended = await worker.runUntil(async () => {
    const handle = await client.workflow.start(workflow, { taskQueue, workflowId, args });
    return handle.result().then(
      () => 'completed',
      (error) => {
        if (!(error instanceof WorkflowFailedError)) throw error;
        return error.cause?.message ?? error.message;
      },
    );
  });
  const times = await arena.model.takeTimes();
  const { historyLength, historySize } = await client.workflow.getHandle(workflowId).describe();
  return {
    turns: times.length,
    ...(ended === 'completed' ? {} : { ended }),
    ...summarizeTurns(times),
    historyBytesPerTurn: Math.round(Number(historySize) / times.length),
    eventsPerTurn: round(historyLength / times.length),
  };
}
