import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../src/client/agent-client.js';
import type { RunHandle } from '../../src/client/run-handle.js';
import { type AgentWorker, say, startAgentWorker } from '../support/agent-worker.js';
import { untilAborted } from '../support/use-workers.js';
import { type CutProxy, startCutProxy } from './support/cut-proxy.js';

let worker: AgentWorker;
let proxy: CutProxy;
let direct: AgentClient;
let far: AgentClient;

beforeAll(async () => {
  worker = await startAgentWorker({
    model: ({ messages, signal }) => (JSON.stringify(messages).includes('wait') ? untilAborted(signal) : say('done')),
    policy: {},
  });
  proxy = await startCutProxy(inject('temporalAddress'));
  direct = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue: worker.taskQueue });
  far = await AgentClient.connect({ address: proxy.address, taskQueue: worker.taskQueue });
});
afterAll(async () => {
  await far.close();
  await direct.close();
  await proxy.close();
  await worker.stop();
});

/** A run whose model is asked and does not answer. */
async function waitingRun(): Promise<RunHandle> {
  const { run } = await direct.start({ task: 'wait' });
  await expect.poll(async () => (await run.progress()).phase).toBe('model');
  return run;
}

describe('cancelling through the client', { timeout: 60_000 }, () => {
  it('C5: a second cancel changes nothing; one after the end says how the run had ended', async () => {
    const run = await waitingRun();
    await Promise.all([run.cancel({ reason: 'first' }), run.cancel({ reason: 'second' })]);
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    const ends = [];
    for await (const item of run.watch()) if (item.type === 'event' && item.event.type === 'run.ended') ends.push(item.event.reason);
    expect(ends).toEqual(['cancelled']);
    await expect.poll(() => run.cancel()).toEqual({ alreadyClosed: 'cancelled' });
    const { run: done } = await direct.start({ task: 'answer' });
    await done.result();
    await expect.poll(() => done.cancel()).toEqual({ alreadyClosed: 'completed' });
    expect(await done.result()).toMatchObject({ reason: 'completed', output: 'done' });
  });

  it('C5: a cancel of a run that is not there: RUN_NOT_FOUND', async () => {
    const cancelling = direct.get(`missing-${randomUUID()}`).cancel();
    await expect(cancelling).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', exitCode: 3 });
  });

  it('C13: a cancel that the server did not get is not accepted, and the run is not cancelled; it can be sent again', async () => {
    const run = await waitingRun();
    const seen = far.get(run.runId);
    expect(await seen.progress()).toMatchObject({ status: 'running' });
    proxy.cut();
    await expect(seen.cancel({ reason: 'enough' })).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE', exitCode: 5 });
    expect(await run.progress()).toMatchObject({ status: 'running' });
    proxy.heal();
    await expect
      .poll(
        () =>
          seen.cancel({ reason: 'enough' }).then(
            () => 'accepted',
            (error: { code: string }) => error.code,
          ),
        { timeout: 20_000 },
      )
      .toBe('accepted');
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
  });
});
