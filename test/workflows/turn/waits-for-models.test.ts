import { describe, expect, it } from 'vitest';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { say } from '../../support/agent-worker.js';
import { candidate, coolingFor, fakeModels } from '../../support/model-route.js';
import { until, useWorkers } from '../../support/use-workers.js';

const limited = (): never => {
  throw new ModelError('Model.RateLimited', 'too many requests', { status: 429, retryAfterMs: 120_000 });
};

const route = [candidate('a/one'), candidate('b/two')];

const WAITING = expect.objectContaining({ type: 'waiting', for: expect.stringMatching(/^every model, cooling down until /u) });

describe('while every model is left alone', () => {
  const { worker, start } = useWorkers();

  /** A run whose first model is back after so long, and whose second one is not. */
  const coolingRun = async (coolingMs: number, input: Partial<RunInput> = {}) => {
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? Promise.reject(coolingFor(coolingMs)) : say('one is back')),
      'b/two': limited,
    });
    const on = await worker({ model: () => say('nobody asks this one'), providerFor: models.providerFor, route, policy: {} });
    return { run: await start(on, input), models };
  };

  /** Such a run that waits now, for the rest of a time that leaves room for what the test does meanwhile. */
  const waitingRun = async (coolingMs: number, input: Partial<RunInput> = {}) => {
    const begun = await coolingRun(coolingMs, input);
    const isWaiting = async (): Promise<boolean> =>
      (await begun.run.progress()).waitingFor?.startsWith('every model, cooling down until') === true;
    await until(isWaiting, 'the wait');
    return begun;
  };

  it('a cancel ends the run at once, and nobody is asked any more', async () => {
    const { run, models } = await waitingRun(50_000);
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(models.asked).toEqual(['a/one', 'b/two']);
  });

  it('a deadline that is shorter than the wait ends it, and the final answer waits for nobody', async () => {
    const { run, models } = await coolingRun(50_000, { deadlineMs: 5_000 });
    expect(await run.result()).toMatchObject({ reason: 'deadline', output: 'one is back', finalized: true });
    expect(await run.events()).toContainEqual(WAITING);
    expect(models.asked).toEqual(['a/one', 'b/two', 'a/one']);
  });

  it('a message in mode interrupt ends the turn, is read, and the next turn waits on', async () => {
    const { run, models } = await waitingRun(9_000);
    await run.handle.signal('steer', { id: 's', text: 'and be brief', mode: 'interrupt' });
    expect(await run.result()).toMatchObject({ output: 'one is back', turns: 2 });
    expect(models.requests.at(-1)?.messages.at(-1)).toMatchObject({ id: 's' });
    expect(models.asked).toEqual(['a/one', 'b/two', 'a/one']);
  });

  it('a flood of messages is carried into a fresh history, where the wait goes on', async () => {
    const { run, models } = await waitingRun(50_000, { bounds: { continueAsNewSignals: 10 } });
    const { runId: first } = await run.handle.describe();
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `s${n}`, text: `message ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    await until(async () => (await run.progress()).waitingFor?.includes('cooling down until') === true, 'the wait in it');
    // the turn begins anew, and takes those that were there; a sender that is slow finds the wait begun
    const { inbox, turn } = await run.progress();
    expect([turn, inbox < 3]).toEqual([1, true]);
    const sent = Array.from({ length: 12 }, (_, n) => `s${n}`);
    const read = (await run.messages()).filter(({ origin }) => origin === 'steer').map(({ id }) => id);
    expect(read).toEqual(sent.slice(0, 12 - inbox));
    await run.handle.signal('cancel');
    const { reason, unconsumed } = await run.result();
    expect([reason, ...unconsumed.map(({ id }) => id)]).toEqual(['cancelled', ...sent.slice(12 - inbox)]);
    expect(models.asked).toEqual(['a/one', 'b/two']);
  });

  it('a chat waits too, and its one turn stays one', async () => {
    const { run } = await coolingRun(4_000, { mode: 'chat' });
    expect(await run.result()).toMatchObject({ output: 'one is back', turns: 1 });
    expect(await run.events()).toContainEqual(WAITING);
  });

  it('a fallback that the cost cap cannot pay is asked once a person has given more', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': () => say('dear words') });
    const cheap = { input: 0.1, output: 0.1 };
    const on = await worker({
      model: () => say('nobody asks this one'),
      providerFor: models.providerFor,
      route: [candidate('a/one', { price: cheap }), candidate('b/two', { price: { input: 100_000, output: 100_000 } })],
      price: cheap,
      policy: { onBudget: 'ask' },
    });
    const run = await start(on, { maxCostUsd: 1 });
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the question');
    expect(models.asked).toEqual(['a/one']);
    await run.handle.executeUpdate('extend', { args: [{ costUsd: 1_000 }] });
    expect(await run.result()).toMatchObject({ output: 'dear words', models: ['b/two'], costUsd: 1.5 });
  });
});
