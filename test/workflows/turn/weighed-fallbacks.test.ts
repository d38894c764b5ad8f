import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { estimateTokens } from '../../../src/contracts/text/estimate-tokens.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { candidate, coolingFor, type FakeModels, fakeModels, gone, limited, refusedKey } from '../../support/model-route.js';
import { note } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { words } from '../policies/support/transcripts.js';

/** About 1,500 tokens a result, each another one. */
const look = defineTool({
  name: 'look',
  description: 'Reads a page.',
  parameters: z.strictObject({ page: z.number() }),
  effect: 'read',
  execute: ({ page }) => `page ${page}: ${words(6_000)}`,
});

/** What another run of this worker is said to have found out, to the first that asks; what the server itself says comes then. */
const heardOnce = (then: () => ReturnType<typeof say>) => (_: unknown, n: number) =>
  n === 1 ? Promise.reject(coolingFor(600_000)) : then();

describe('a fallback is weighed before it is asked, or given up', () => {
  const { worker, start } = useWorkers();

  const on = (models: FakeModels, options: Omit<AgentWorkerOptions, 'model' | 'providerFor'>) =>
    worker({ model: () => say('nobody asks this one'), providerFor: models.providerFor, policy: {}, ...options });

  it('a model of which only another run said that it fails is asked before the run fails', async () => {
    const models = fakeModels({ 'a/one': heardOnce(() => say('there after all')), 'b/two': limited });
    const route = [candidate('a/one'), candidate('b/two')];
    const result = await (await start(await on(models, { route }))).result();
    expect(result).toMatchObject({ output: 'there after all', models: ['a/one'] });
    expect(models.asked).toEqual(['a/one', 'b/two', 'a/one']);
    expect(result.switches?.map(({ to }) => to)).toEqual(['b/two', 'a/one']);
  });

  it('several such models are each asked once, and the error lists what they say', async () => {
    const models = fakeModels({ 'a/one': heardOnce(limited), 'b/two': heardOnce(limited), 'c/three': refusedKey });
    const route = [candidate('a/one'), candidate('b/two'), candidate('c/three')];
    const run = await start(await on(models, { route }));
    await expect(run.result()).rejects.toMatchObject({
      cause: {
        type: 'Model.AllFailed',
        message: expect.stringMatching(/c\/three: Model\.Auth.*a\/one: .*too many requests.*b\/two: .*too many/u),
      },
    });
    expect(models.asked).toEqual(['a/one', 'b/two', 'c/three', 'a/one', 'b/two']);
  });

  it('a model that others found out of reach is asked as soon as the run waits for models out of reach', async () => {
    const models = fakeModels({
      'a/one': (_, n) => (n <= 3 ? gone() : say('one is back')),
      'b/two': (_, n) => (n === 1 ? say('two') : gone()),
    });
    const both = await on(models, { route: [candidate('a/one'), candidate('b/two')] });
    await (await start(both)).result();
    const asked = models.asked.length;
    expect(await (await start(both)).result()).toMatchObject({ output: 'one is back' });
    expect(models.asked.slice(asked)).toEqual(['b/two', 'b/two', 'b/two', 'a/one']);
  });

  it('a run that began when hearsay was enough goes on so', async () => {
    const models = fakeModels({ 'a/one': heardOnce(() => say('never')), 'b/two': limited });
    const route = [candidate('a/one'), candidate('b/two')];
    const run = await start(await on(models, { route, policy: { weighsFallbacks: false } }));
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.AllFailed' } });
    expect(models.asked).toEqual(['a/one', 'b/two']);
  });

  it('a transcript that is more than the fallback can read is made shorter before that is asked', async () => {
    const models = fakeModels({
      'a/large': (_, n) => (n <= 8 ? call(['look', { page: n }]) : limited()),
      'b/small': () => say('from the small one'),
    });
    const route = [candidate('a/large'), candidate('b/small', { contextWindow: 8_000 })];
    const run = await start(await on(models, { route, tools: [look] }));
    expect(await run.result()).toMatchObject({ output: 'from the small one', turns: 9 });
    const [large, small] = models.requests.slice(-2).map(({ messages }) => estimateTokens(messages));
    expect(large).toBeGreaterThan(8_000);
    expect(small).toBeLessThan(8_000);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'compacted', turn: 9 }));
  });

  it('a summary is asked for with a key that is not left alone', async () => {
    const summaries: (string | undefined)[] = [];
    const models = fakeModels({
      'a/one': ({ tools }, n, key) => {
        if (tools.length === 0) summaries.push(key);
        if (key !== 'env:KEY_2') return refusedKey();
        return tools.length === 0 ? say('a summary') : n <= 9 ? call(['look', { page: n }]) : say('read');
      },
    });
    const route = [candidate('a/one', { credentials: ['env:KEY', 'env:KEY_2'], contextWindow: 12_000 })];
    const run = await start(await on(models, { route, tools: [look], policy: { compaction: { strategies: ['summary'] } } }));
    expect(await run.result()).toMatchObject({ output: 'read' });
    expect(new Set(summaries)).toEqual(new Set(['env:KEY_2']));
  });

  it('a summary is charged to the model that wrote it, also when the first one is back meanwhile', async () => {
    const back = latch();
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? Promise.reject(coolingFor(4_000)) : say('one is back')),
      'b/two': async ({ tools }, n) => {
        if (tools.length > 0) return call(['look', { page: n }]);
        await back.opened;
        return say('a summary');
      },
    });
    const route = [candidate('a/one', { price: { input: 1, output: 1 } }), candidate('b/two', { price: { input: 2, output: 2 } })];
    const windows = route.map((each) => ({ ...each, contextWindow: 4_000 }));
    const run = await start(
      await on(models, { route: windows, tools: [look], policy: { compaction: { strategies: ['summary'], keepRecentTokens: 0 } } }),
    );
    await until(async () => (await run.progress()).phase === 'compacting', 'the compaction');
    const cooling = (await run.events()).find((event) => event.type === 'model.cooling');
    await until(() => Date.now() > Date.parse(cooling?.until ?? ''), 'the end of the cooldown');
    back.open();
    const { byModel, output } = await run.result();
    expect(output).toBe('one is back');
    expect(byModel?.find(({ model }) => model === 'a/one')).toMatchObject({ calls: 1, usage: { inputTokens: 10 } });
  });

  it('the reserved final answer does not pass the cost cap many times over because the fallback is dear', async () => {
    const cheap = { input: 0.1, output: 0.1 };
    const models = fakeModels({
      'a/cheap': (_, n) => (n <= 8 ? call(['look', { page: n }]) : limited()),
      'b/dear': () => say('dear words'),
    });
    const dear = { input: 1_000, output: 1_000 };
    const route = [candidate('a/cheap', { price: cheap }), candidate('b/dear', { price: dear })];
    const run = await start(await on(models, { route, price: cheap, tools: [look] }), { maxCostUsd: 1 });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'budget' });
    expect(models.asked.filter((model) => model === 'b/dear')).toEqual([]);
    expect(models.asked).toHaveLength(10);
    expect(result.costUsd).toBeLessThan(1);
  });

  it('the next model that the cost cap can pay gives the reserved final answer', async () => {
    const cheap = { input: 0.1, output: 0.1 };
    const models = fakeModels({
      'a/cheap': (_, n) => (n <= 8 ? call(['look', { page: n }]) : limited()),
      'b/dear': () => say('dear words'),
      'c/cheap': () => say('what was found'),
    });
    const route = [
      candidate('a/cheap', { price: cheap }),
      candidate('b/dear', { price: { input: 1_000, output: 1_000 } }),
      candidate('c/cheap', { price: cheap }),
    ];
    const run = await start(await on(models, { route, price: cheap, tools: [look] }), { maxCostUsd: 1 });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'budget', output: 'what was found', models: ['a/cheap', 'c/cheap'] });
    expect(result.switches?.at(-1)).toMatchObject({ from: 'b/dear', to: 'c/cheap', why: 'budget' });
  });

  it('contradiction 13: with fallbackOnAuth off a refused key leads to no other model, also to none that is back soon', async () => {
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? Promise.reject(coolingFor(500)) : n === 2 ? call(['note', { n }]) : refusedKey()),
      'b/two': (_, n) => (n === 1 ? Promise.reject(coolingFor(3_000)) : say('never')),
    });
    const route = [candidate('a/one', { credentials: ['env:KEY'] }), candidate('b/two')];
    const run = await start(await on(models, { route, tools: [note], policy: { fallbackOnAuth: false } }));
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.AllFailed' } });
    expect(models.asked.filter((model) => model === 'b/two')).toHaveLength(1);
  });
});
