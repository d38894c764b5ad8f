import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { PARENT_CONTINUED } from '../../../src/contracts/text/ids.js';
import { call, say } from '../../support/agent-worker.js';
import { cast, castConfig } from '../../support/subagents/cast.js';
import { latch, type TestRun, testRun, until, useWorkers } from '../../support/use-workers.js';

const config = castConfig({
  lead: { subagents: { agents: ['middle'], depth: 2 } },
  middle: { subagents: { agents: ['leaf'], depth: 1 } },
  leaf: {},
});

const delegate = (agent: string) => call(['delegate', { agent, task: 'look' }]);

describe('a sub-agent whose parent continues as new', () => {
  const { worker, start } = useWorkers();

  /** A lead whose sub-agent waits for one of its own, until the latch opens. */
  async function tree(): Promise<{ lead: TestRun; middle: TestRun; held: ReturnType<typeof latch> }> {
    const held = latch();
    const on = await worker({
      config,
      model: cast({
        lead: (_, n) => (n === 1 ? delegate('middle') : say('done')),
        middle: (_, n) => (n === 1 ? delegate('leaf') : say('seen')),
        leaf: async () => {
          await held.opened;
          return say('found');
        },
      }),
    });
    const lead = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    await until(() => on.requests.length === 3, 'the leaf');
    const middle = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${lead.runId}/middle-1`));
    return { lead, middle, held };
  }

  it('continues as new itself, also after its parent did so twice, and its result comes once', async () => {
    const { lead, middle, held } = await tree();
    for (const [n, run] of [lead, lead, lead, middle, middle].entries()) await continueAsNew(run, n);
    held.open();
    const { reason, subagents } = await lead.result();
    expect([reason, subagents]).toMatchObject(['completed', [{ runId: middle.runId, reason: 'completed' }]]);
    expect(await middle.result()).toMatchObject({ reason: 'completed', subagents: [{ reason: 'completed' }] });
  });

  it('counts the first notice of its parent: one that an earlier level prepared sends a notice each time', async () => {
    const { lead, middle, held } = await tree();
    await continueAsNew(lead, 0);
    for (const n of [1, 2]) {
      await middle.handle.signal(PARENT_CONTINUED);
      await continueAsNew(middle, n);
    }
    await middle.handle.signal(PARENT_CONTINUED);
    await middle.handle.cancel();
    held.open();
    expect(await lead.result()).toMatchObject({ reason: 'completed' });
    expect((await middle.handle.describe()).status.name).toBe('CANCELLED');
  });
});

/** Sends messages until the history of a run is too long. */
async function continueAsNew({ handle }: TestRun, nth: number): Promise<void> {
  const { runId: before } = await handle.describe();
  for (let n = 0; n < 12; n += 1) await handle.signal('steer', { id: `m${nth}-${n}`, text: `message ${n}` });
  await until(async () => (await handle.describe()).runId !== before, `history ${nth} of ${handle.workflowId}`);
}
