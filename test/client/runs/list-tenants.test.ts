import { describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { say } from '../../support/agent-worker.js';
import { latch, useWorkers } from '../../support/use-workers.js';

const ODD = 'Ärzte & Co; DROP TABLE -- %';

describe('runs of a tenant', { timeout: 60_000 }, () => {
  const { worker } = useWorkers();

  it('are listed and counted alone, open and closed, whatever its name', async () => {
    const held = latch();
    const on = await worker({
      model: () => held.opened.then(() => say('done')),
    });
    const agents = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue: on.taskQueue });
    const start = async (tenant?: string, session?: string) =>
      (await agents.start({ task: 'work', ...(tenant === undefined ? {} : { tenant }), ...(session === undefined ? {} : { session }) }))
        .run;
    try {
      const [first] = [await start('acme'), await start('acme', 'chat-1'), await start(ODD), await start()];
      await expect.poll(() => agents.count(), { timeout: 30_000 }).toBe(4);
      await expect.poll(() => agents.count({ tenant: 'acme' }), { timeout: 30_000 }).toBe(2);
      await expect.poll(() => agents.count({ tenant: ODD }), { timeout: 30_000 }).toBe(1);
      expect(await agents.count({ tenant: 'acme', session: 'chat-1' })).toBe(1);
      expect(await agents.count({ tenant: 'nobody' })).toBe(0);
      expect(await agents.list({ tenant: ODD })).toMatchObject([{ tenant: ODD }]);
      expect(await agents.count({ tenant: 'acme', status: 'closed' })).toBe(0);
      held.open();
      await expect.poll(() => agents.count({ tenant: 'acme', status: 'closed' }), { timeout: 30_000 }).toBe(2);
      const closed = await agents.list({ tenant: 'acme', status: 'closed' });
      expect(closed.find(({ runId }) => runId === first.runId)).toMatchObject({ tenant: 'acme', status: 'completed' });
      for (const tenant of ['', 'x" OR AgentTenant = "acme', "o'hara", 'a\\']) {
        await expect(agents.count({ tenant })).rejects.toMatchObject({ code: 'BAD_OPTION' });
      }
    } finally {
      held.open();
      await agents.close();
    }
  });
});
