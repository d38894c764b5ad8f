import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { say } from '../../support/agent-worker.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { ledgerOf, replay, rules, statusOf } from './support/tenants.js';

describe('runs of a tenant at once', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  it('ten runs that start together never have more than two at work, first come first served, also when one is terminated', async () => {
    let [working, most] = [0, 0];
    const held = latch();
    const on = await worker({
      tenants: rules({ maxRuns: 2 }),
      model: async () => {
        working += 1;
        most = Math.max(most, working);
        await held.opened;
        working -= 1;
        return say('done');
      },
    });
    const runs = await Promise.all(Array.from({ length: 10 }, () => start(on, { tenant: 'acme' })));
    await until(async () => (await statusOf(on, 'acme'))?.waitingCount === 8, 'eight runs that wait');
    const { waiting = [] } = (await statusOf(on, 'acme')) ?? {};
    const atWork = runs.find(({ runId }) => !waiting.includes(runId));
    const first = runs.find(({ runId }) => runId === waiting[0]);
    // the ledger has counted it before the run has read the answer
    await until(async () => (await first?.progress())?.waitingFor === 'a place of tenant acme (2 of 2 runs at once)', 'the wait');
    expect(await first?.progress()).toMatchObject({ status: 'waiting' });
    await atWork?.handle.terminate('gone');
    await until(async () => (await first?.progress())?.status === 'running', 'the first one in the queue');
    held.open();
    const ends = await Promise.all(
      runs.map((run) =>
        run.result().then(
          ({ reason }) => reason,
          () => 'terminated',
        ),
      ),
    );
    expect(ends.toSorted()).toEqual([...Array<string>(9).fill('completed'), 'terminated']);
    // the activity of the terminated run may still run when its place is given away
    expect(most).toBeLessThanOrEqual(3);
    await until(async () => (await ledgerOf(on, 'acme').describe()).status.name === 'COMPLETED', 'the end of the ledger');
  });

  it('a run that waits can be cancelled, goes on in a fresh history, and replays; its ledger too', async () => {
    const held = latch();
    const on = await worker({
      tenants: rules({ maxRuns: 1 }, { historyEventsMax: 30 }),
      model: async () => {
        await held.opened;
        return say('done');
      },
    });
    const first = await start(on, { tenant: 'acme' });
    await until(async () => (await first.progress()).phase === 'model', 'the first run at work');
    const long = await start(on, { tenant: 'acme', bounds: { continueAsNewEvents: 20 } });
    await until(async () => (await long.progress()).status === 'waiting', 'the wait');
    const cancelled = await start(on, { tenant: 'acme' });
    await until(async () => (await statusOf(on, 'acme'))?.waitingCount === 2, 'two runs that wait');
    const before = await long.handle.describe();
    // a pause fills the history, and does not cost the position
    await until(async () => {
      await long.handle.signal('resume');
      return (await long.handle.describe()).runId !== before.runId;
    }, 'the next history');
    await cancelled.handle.signal('cancel');
    expect(await cancelled.result()).toMatchObject({ reason: 'cancelled', turns: 0 });
    expect((await statusOf(on, 'acme'))?.waiting).toEqual([long.runId]);
    held.open();
    expect(await long.result()).toMatchObject({ reason: 'completed' });
    const untenanted = await start(on);
    await untenanted.result();
    expect(await namesOf(untenanted.handle)).not.toContain('askTenant');
    await until(async () => (await ledgerOf(on, 'acme').describe()).status.name === 'COMPLETED', 'the end of the ledger');
    const [execution] = (await ledgerOf(on, 'acme').fetchHistory()).events ?? [];
    expect(execution?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('');
    for (const handle of [first.handle, long.handle, cancelled.handle, ledgerOf(on, 'acme')]) await replay(handle);
    await replay(on.client.workflow.getHandle(long.runId, before.runId));
  });
});

async function namesOf(handle: WorkflowHandle): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
}
