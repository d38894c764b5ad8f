import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { RunListItem } from '../../../src/client/runs/list-runs.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, useWorkers } from '../../support/use-workers.js';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `found ${n}`,
});

describe('lists of open runs', { timeout: 60_000 }, () => {
  const { worker } = useWorkers();

  it('A14: turns and cost are updated while the run works, and unknown before', async () => {
    const held = latch();
    const price = { input: 1, output: 1 };
    const on = await worker({
      model: async (_, n) => {
        if (n === 13) await held.opened;
        return n === 13 ? say('done') : call(['look', { n }]);
      },
      tools: [look],
      policy: {},
      price,
    });
    await withClient(on.taskQueue, async (agents) => {
      const { run } = await agents.start({ task: 'look around', maxTurns: 30 });
      const item = await listed(agents, ({ turns }) => turns !== undefined);
      expect(item).toMatchObject({ status: 'running', turns: 10 });
      expect(item.costUsd).toBeGreaterThan(0);
      held.open();
      expect(await run.result()).toMatchObject({ turns: 13 });
    });
  });

  it('A14: a run that continued as new keeps its start', async () => {
    const held = latch();
    const on = await worker({
      model: async (_, n) => {
        if (n === 9) await held.opened;
        return n === 9 ? say('done') : call(['look', { n }]);
      },
      tools: [look],
    });
    await withClient(on.taskQueue, async (agents) => {
      const { run } = await agents.start({ task: 'look around', bounds: { continueAsNewEvents: 20 } });
      const { startedAt, executionId } = await run.describe();
      const continued = async () => (await run.describe()).executionId !== executionId;
      await expect.poll(continued, { timeout: 30_000 }).toBe(true);
      const described = await run.describe();
      expect(described).toMatchObject({ startedAt, task: 'look around' });
      await listed(agents, (item) => item.executionId !== executionId && item.startedAt === startedAt);
      held.open();
      await run.result();
      expect((await run.describe()).startedAt).toBe(startedAt);
    });
  });
});

/** The one run of the queue, once visibility shows what is expected. */
async function listed(agents: AgentClient, isShown: (item: RunListItem) => boolean): Promise<RunListItem> {
  await expect.poll(async () => (await agents.list()).some(isShown), { timeout: 30_000 }).toBe(true);
  const item = (await agents.list()).find(isShown);
  if (!item) throw new Error('the run is not listed');
  return item;
}

async function withClient(taskQueue: string, work: (agents: AgentClient) => Promise<void>): Promise<void> {
  const agents = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue });
  try {
    await work(agents);
  } finally {
    await agents.close();
  }
}
