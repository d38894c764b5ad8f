import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { RunHandle } from '../../../src/client/run-handle.js';
import type { AgentWorker } from '../../support/agent-worker.js';
import { startDeployWorker } from '../../support/start-deploy-worker.js';
import { refusalOf } from '../support/refusal.js';

let worker: AgentWorker;
let agents: AgentClient;

beforeAll(async () => {
  worker = await startDeployWorker();
  agents = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue: worker.taskQueue });
});
afterAll(async () => {
  await agents.close();
  await worker.stop();
});

/** A run that waits for a person, and the id of the call. */
async function waitingRun(): Promise<{ run: RunHandle; callId: string }> {
  const { run } = await agents.start({ task: 'deploy it' });
  await expect.poll(async () => (await run.approvals()).pending.length, { timeout: 30_000 }).toBe(1);
  return { run, callId: (await run.approvals()).pending[0]?.callId ?? '' };
}

describe('approvals through the client', { timeout: 60_000 }, () => {
  it('a call that waits is listed and approved; its run goes on', async () => {
    const { run, callId } = await waitingRun();
    expect((await run.approvals()).pending).toMatchObject([{ tool: 'deploy', args: { to: 'production' }, askedBy: 'gate' }]);
    expect(await run.approve(callId, { by: 'ada' })).toMatchObject({ callId, decision: 'approved', by: 'ada' });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', toolCalls: 1 });
    expect((await run.approvals()).decided).toMatchObject([{ callId, decision: 'approved', by: 'ada' }]);
  });

  it('a call that is denied does not run', async () => {
    const { run, callId } = await waitingRun();
    expect(await run.deny(callId, { by: 'ada', reason: 'not now' })).toMatchObject({ decision: 'denied', reason: 'not now' });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 0 });
  });

  it('B7, C10: a decision about nothing is not found, one of no shape is bad input, a closed run refuses', async () => {
    const { run, callId } = await waitingRun();
    expect(await refusalOf(() => run.approve('nothing'))).toMatchObject({ code: 'NO_SUCH_APPROVAL', exitCode: 3 });
    for (const bad of ['', ' ', 'x'.repeat(201)])
      expect(await refusalOf(() => run.approve(bad))).toMatchObject({ code: 'BAD_ANSWER', exitCode: 2 });
    expect(await refusalOf(() => run.deny(callId, { by: '' }))).toMatchObject({ code: 'BAD_ANSWER', exitCode: 2 });
    expect(await refusalOf(() => run.deny(callId, { reason: 'x'.repeat(1_001) }))).toMatchObject({ code: 'BAD_ANSWER', exitCode: 2 });
    expect((await run.approvals()).pending).toHaveLength(1);
    await run.deny(callId, { by: 'ada' });
    await run.result();
    await expect.poll(() => refusalOf(() => run.approve(callId)), { timeout: 10_000 }).toMatchObject({ code: 'RUN_CLOSED', exitCode: 4 });
  });

  it('C10: of two people who decide at once one is told that the other did', async () => {
    const { run, callId } = await waitingRun();
    const settled = await Promise.allSettled([run.approve(callId, { by: 'ada' }), run.approve(callId, { by: 'bob' })]);
    const winner = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const losers = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(winner).toHaveLength(1);
    expect(losers).toHaveLength(1);
    // who comes after the run ended is told that
    expect(losers[0]).toMatchObject({ code: expect.stringMatching(/^ALREADY_DECIDED$|^RUN_CLOSED$/u), exitCode: 4 });
    expect(await run.result()).toMatchObject({ toolCalls: 1 });
  });

  it('what waits in all open runs is listed, oldest first', async () => {
    const first = await waitingRun();
    const second = await waitingRun();
    await expect
      .poll(async () => (await agents.approvals()).map(({ runId, callId }) => ({ runId, callId })), { timeout: 30_000 })
      .toEqual([first, second].map(({ run, callId }) => ({ runId: run.runId, callId })));
    await first.run.deny(first.callId);
    await second.run.cancel();
    await Promise.all([first.run.result(), second.run.result()]);
    await expect.poll(() => agents.approvals(), { timeout: 30_000 }).toEqual([]);
  });

  it('where the server does not know the attribute, every open run is asked', async () => {
    const namespace = `bare-${randomUUID()}`;
    const { workflowService } = worker.client.connection;
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: 86_400 as never } });
    const bare = await AgentClient.connect({ address: inject('temporalAddress'), namespace, taskQueue: 'nobody' });
    try {
      await expect.poll(() => bare.approvals().catch((error: unknown) => error), { timeout: 30_000 }).toEqual([]);
      const { run } = await bare.start({ task: 'wait for a worker' });
      // no worker polls there: that it was asked shows in the error
      await expect.poll(() => refusalOf(() => bare.approvals()), { timeout: 40_000 }).toMatchObject({ code: 'NO_WORKER', exitCode: 5 });
      await run.cancel();
    } finally {
      await bare.close();
    }
  });

  it('a decision that no worker takes is not accepted, and says so', async () => {
    const { run, callId } = await waitingRun();
    await worker.shutdown();
    expect(await refusalOf(() => run.approve(callId, { by: 'ada' }))).toMatchObject({
      code: 'NO_WORKER',
      exitCode: 5,
      message: expect.stringContaining('not accepted; decide again'),
    });
    await run.cancel();
  });
});
