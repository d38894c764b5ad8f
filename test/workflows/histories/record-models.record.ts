import { describe, it } from 'vitest';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { candidate, coolingFor, fakeModels } from '../../support/model-route.js';
import { note } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save, fill } = historySaver('0.3');

const limited = (): never => {
  throw new ModelError('Model.RateLimited', 'too many requests', { status: 429, retryAfterMs: 120_000, requestId: 'req_1' });
};

const price = { input: 1, output: 2 };

const resolveModel = (model: string) =>
  model === 'c/three' ? { candidate: candidate(model, { price }) } : { problem: `no model ${model}` };

describe('record runs with several models', () => {
  const { worker, start } = useWorkers();

  const on = (models: ReturnType<typeof fakeModels>, more: Partial<Parameters<typeof worker>[0]> = {}) =>
    worker({
      identity: 'recorder',
      model: () => say('nobody asks this one'),
      providerFor: models.providerFor,
      route: [candidate('a/one', { price, credentials: ['env:KEY', 'env:KEY_2'], thinking: 'low' }), candidate('b/two', { price })],
      price,
      tools: [note],
      policy: {},
      ...more,
    });

  it('a limited model, its other key, and the next model', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': (_, n) => (n === 1 ? call(['note', { n }]) : say('done')) });
    await save('failover', await start(await on(models), { maxCostUsd: 1 }));
  });

  it('every model fails', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': limited });
    await save('all-failed', await start(await on(models)));
  });

  it('a call that asks a person after a change of model', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': (_, n) => (n === 1 ? call(['note', { n }]) : say('done')) });
    const run = await start(await on(models, { policy: { failoverGate: 'ask' } }));
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    const asked = (await run.events()).find((event) => event.type === 'approval.asked');
    await run.handle.executeUpdate('approve', { args: [{ callId: asked?.callId, by: 'eve' }] });
    await save('failover-gate', run);
  });

  it('a wish for another model and for more thinking, and one that cannot be', async () => {
    const first = latch();
    const models = fakeModels({
      'a/one': async () => {
        await first.opened;
        return call(['note', { n: 1 }]);
      },
      'c/three': () => say('three ends it'),
    });
    const run = await start(await on(models, { resolveModel }));
    await until(() => models.asked.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'x', text: '/model nobody/x' });
    await run.handle.signal('steer', { id: 't', text: '/think high' });
    await run.handle.signal('steer', { id: 'm', text: '/model c/three\nand be brief' });
    first.open();
    await save('directives', run);
  });

  it.each([
    ['refused-dropped', { keepRestOfRefused: false }],
    ['refused-kept', {}],
  ])('what stands behind a wish that cannot be: %s', async (name, policy) => {
    const first = latch();
    const models = fakeModels({
      'a/one': async (_, n) => (n === 1 ? first.opened.then(() => call(['note', { n }])) : say('one ends it')),
      'c/three': () => say('three ends it'),
    });
    const run = await start(await on(models, { resolveModel, policy }));
    await until(() => models.asked.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'x', text: '/model nobody/x\n/model c/three\nand be brief' });
    first.open();
    await save(name, run);
  });

  it('a fallback that reads less, and models of which only another run said that they fail', async () => {
    const models = fakeModels({
      'a/one': ({ tools }, n) => {
        if (tools.length === 0) return say('a summary');
        if (n < 4) return call(['read', { n }]);
        return n === 4 ? Promise.reject(coolingFor(600_000)) : say('back');
      },
      'b/two': ({ tools }) => (tools.length === 0 ? say('a summary') : limited()),
    });
    const route = [candidate('a/one'), candidate('b/two', { contextWindow: 4_000 })];
    const read = defineTool({ ...note, name: 'read', execute: ({ n }) => `page ${n} `.repeat(600) });
    const policy: AgentWorkerOptions['policy'] = { compaction: { strategies: ['summary'], keepRecentTokens: 0 } };
    await save('weighed', await start(await on(models, { route, tools: [read], policy })));
  });

  it('every model is left alone in one history, and one answers in the next', async () => {
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? Promise.reject(coolingFor(15_000)) : n === 2 ? Promise.reject(coolingFor(20_000)) : say('back')),
      'b/two': limited,
    });
    const recorder = await on(models);
    const run = await start(recorder, { bounds: { continueAsNewEvents: 60 } });
    await until(async () => /cooling down until/u.test((await run.progress()).waitingFor ?? ''), 'the wait');
    await run.handle.signal('pause');
    await fill('cooling-1', recorder, run, 'pause');
    await run.handle.signal('resume');
    await save('cooling-2', run);
  });
});
