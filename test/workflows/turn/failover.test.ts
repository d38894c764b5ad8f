import { ApplicationFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { call, say } from '../../support/agent-worker.js';
import { candidate, coolingFor, fakeModels, gone, limited, refusedKey, routeOver } from '../../support/model-route.js';
import { note } from '../../support/tools/sample-tools.js';
import { until, useWorkers } from '../../support/use-workers.js';

const price = { input: 1_000, output: 2_000 };

describe('failover of a run', () => {
  const { worker, start } = useWorkers();

  it('C-22, M3: a limit of two minutes goes to the next model at once; the result and the events name both, and the cost of each', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': () => say('from two') });
    const on = await worker({
      ...routeOver(models, [candidate('a/one', { price }), candidate('b/two', { price: { input: 2_000, output: 2_000 } })]),
      price,
      policy: {},
    });
    const run = await start(on);
    const result = await run.result();
    expect(result).toMatchObject({
      reason: 'completed',
      output: 'from two',
      models: ['b/two'],
      switches: [{ turn: 1, from: 'a/one', to: 'b/two', why: 'Model.RateLimited' }],
      byModel: [{ model: 'b/two', calls: 1, costUsd: 0.03 }],
      costUsd: 0.03,
      cachedShare: 0,
    });
    expect(models.asked).toEqual(['a/one', 'b/two']);
    const events = await run.events();
    const cooling = events.find((event) => event.type === 'model.cooling');
    expect(cooling).toMatchObject({ model: 'a/one', why: 'Model.RateLimited' });
    expect(Date.parse(cooling?.until ?? '') - (cooling?.at ?? 0)).toBe(120_000);
    expect(events).toContainEqual(expect.objectContaining({ type: 'model.failed', model: 'a/one', requestId: 'req_1' }));
    expect(events).toContainEqual(expect.objectContaining({ type: 'model.completed', model: 'b/two', costUsd: 0.03 }));
    const { searchAttributes } = await run.handle.describe();
    expect(searchAttributes['AgentModel']).toEqual(['b/two']);
  });

  it('M5: an overloaded model is asked three times, then the next; it is left alone and not asked again in every turn', async () => {
    const models = fakeModels({
      'a/one': () => {
        throw new ModelError('Model.Overloaded', 'overloaded', { status: 529 });
      },
      'b/two': (_, n) => (n < 4 ? call(['note', { n }]) : say('done')),
    });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      tools: [note],
      policy: {},
    });
    expect(await (await start(on)).result()).toMatchObject({ output: 'done', turns: 4 });
    expect(models.asked).toEqual(['a/one', 'a/one', 'a/one', 'b/two', 'b/two', 'b/two', 'b/two']);
  });

  it('C-29: a refused key leads to the next key of the same provider, and the run stays with its model', async () => {
    const models = fakeModels({ 'a/one': (_, n, key) => (key === 'env:KEY' ? refusedKey() : say(`answer ${n}`)) });
    const on = await worker({
      ...routeOver(models, [candidate('a/one', { credentials: ['env:KEY', 'env:KEY_2'] }), candidate('b/two')]),
      policy: {},
    });
    const run = await start(on);
    const result = await run.result();
    expect(result).toMatchObject({ output: 'answer 2', models: ['a/one'] });
    expect(result.switches).toBeUndefined();
    expect(models.asked).toEqual(['a/one env:KEY', 'a/one env:KEY_2']);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'model.cooling', credential: 'env:KEY', why: 'Model.Auth' }));
  });

  it('contradiction 13: with fallbackOnAuth off a refused key leads to no other model', async () => {
    const models = fakeModels({ 'a/one': refusedKey, 'b/two': () => say('never') });
    const on = await worker({
      ...routeOver(models, [candidate('a/one', { credentials: ['env:KEY', 'env:KEY_2'] }), candidate('b/two')]),
      policy: { fallbackOnAuth: false },
    });
    await expect((await start(on)).result()).rejects.toMatchObject({ cause: { type: 'Model.AllFailed' } });
    expect(models.asked).toEqual(['a/one env:KEY', 'a/one env:KEY_2']);
  });

  it('an overloaded server is not asked again with another key: the next model is', async () => {
    const models = fakeModels({ 'a/one': () => Promise.reject(coolingFor(60_000)), 'b/two': () => say('two') });
    const slow = fakeModels({
      'a/one': () => {
        throw new ModelError('Model.Unreachable', 'refused', { cause: undefined });
      },
      'b/two': () => say('two'),
    });
    for (const [fake, asked] of [
      [models, ['a/one env:KEY', 'a/one env:KEY_2', 'b/two']],
      [slow, ['a/one env:KEY', 'a/one env:KEY', 'a/one env:KEY', 'b/two']],
    ] as const) {
      const on = await worker({
        ...routeOver(fake, [candidate('a/one', { credentials: ['env:KEY', 'env:KEY_2'] }), candidate('b/two')]),
        policy: {},
      });
      expect(await (await start(on)).result()).toMatchObject({ output: 'two' });
      expect(fake.asked).toEqual(asked);
    }
  });

  it.each(['Model.BadRequest', 'Model.ContentFilter', 'Model.ContextOverflow'] as const)(
    'contradiction 13: %s is wrong everywhere: no other model is asked',
    async (type) => {
      const models = fakeModels({
        'a/one': () => {
          throw new ModelError(type, 'no');
        },
        'b/two': () => say('never'),
      });
      const on = await worker({
        ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
        policy: {},
      });
      await expect((await start(on)).result()).rejects.toMatchObject({ cause: { type } });
      expect(new Set(models.asked)).toEqual(new Set(['a/one']));
    },
  );

  it('D-27: a model that its server no longer has leads to the next one, and is left alone for a day', async () => {
    const models = fakeModels({
      'a/retired': () => {
        throw new ModelError('Model.NotFound', 'no such model', { status: 404 });
      },
      'b/two': (_, n) => (n < 3 ? call(['note', { n }]) : say('done')),
    });
    const on = await worker({
      ...routeOver(models, [candidate('a/retired'), candidate('b/two')]),
      tools: [note],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ output: 'done', switches: [{ to: 'b/two', why: 'Model.NotFound' }] });
    expect(models.asked).toEqual(['a/retired', 'b/two', 'b/two', 'b/two']);
    const cooling = (await run.events()).find((event) => event.type === 'model.cooling');
    expect(Date.parse(cooling?.until ?? '') - (cooling?.at ?? 0)).toBe(86_400_000);
  });

  it('D-27: when every model fails, one error lists each attempt', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': refusedKey });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two', { credentials: ['env:B'] })]),
      policy: {},
    });
    const problem = await (await start(on)).result().catch((error: { cause: ApplicationFailure }) => error.cause);
    expect(problem).toBeInstanceOf(ApplicationFailure);
    expect(problem).toMatchObject({ type: 'Model.AllFailed' });
    expect((problem as ApplicationFailure).message).toMatch(
      /no model answered: a\/one: Model\.RateLimited: too many requests .*; b\/two \(env:B\): Model\.Auth: no such key/u,
    );
  });

  it('a model that is back within a minute is waited for, and the wait says for whom', async () => {
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? Promise.reject(coolingFor(5_000)) : say('back')),
      'b/two': limited,
    });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ output: 'back', models: ['a/one'] });
    expect(models.asked).toEqual(['a/one', 'b/two', 'a/one']);
    const waiting = { type: 'waiting', for: expect.stringMatching(/^every model, cooling down until /u) };
    expect(await run.events()).toContainEqual(expect.objectContaining(waiting));
  });

  it('a model whose time is over is asked first again', async () => {
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? Promise.reject(coolingFor(1)) : say('first again')),
      'b/two': () => call(['note', { n: 1 }]),
    });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      tools: [note],
      policy: {},
    });
    const { output, switches } = await (await start(on)).result();
    expect(output).toBe('first again');
    expect(switches).toEqual([
      { turn: 1, from: 'a/one', to: 'b/two', why: expect.any(String) },
      { turn: 2, from: 'b/two', to: 'a/one', why: 'cooled down' },
    ]);
  });

  it('M25: when no server can be reached the run waits, and the first that is back answers', async () => {
    const models = fakeModels({ 'a/one': gone, 'b/two': (_, n) => (n <= 3 ? gone() : say('two is back')) });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ output: 'two is back' });
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'waiting', for: 'model unreachable, attempt 1' }));
  });

  it('failoverGate: after a change of model a call that may change the world asks a person', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': (_, n) => (n === 1 ? call(['note', { n: 1 }]) : say('done')) });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      tools: [note],
      policy: { failoverGate: 'ask' },
    });
    const run = await start(on);
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    const asked = (await run.events()).find((event) => event.type === 'approval.asked');
    expect(asked).toMatchObject({ by: 'failover', reason: expect.stringContaining('b/two') });
    await run.handle.executeUpdate('approve', { args: [{ callId: asked?.callId, by: 'eve' }] });
    expect(await run.result()).toMatchObject({ output: 'done' });
  });

  it('cooldowns, spending and switches go along into a fresh history', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': (_, n) => (n < 8 ? call(['note', { n }]) : say('done')) });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      tools: [note],
      policy: {},
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 30 } });
    const result = await run.result();
    expect(result).toMatchObject({ output: 'done', models: ['b/two'], byModel: [{ model: 'b/two', calls: 8 }] });
    expect(result.switches).toHaveLength(1);
    expect((await run.events()).some(({ type }) => type === 'continued')).toBe(true);
    expect(models.asked.filter((model) => model === 'a/one')).toHaveLength(1);
  });

  it('what one server failed is not asked again with its other keys in the next turns either', async () => {
    const models = fakeModels({
      'a/one': () => {
        throw new ModelError('Model.Overloaded', 'overloaded', { status: 529 });
      },
      'b/two': (_, n) => (n < 3 ? call(['note', { n }]) : say('done')),
    });
    const on = await worker({
      ...routeOver(models, [candidate('a/one', { credentials: ['env:KEY', 'env:KEY_2'] }), candidate('b/two')]),
      tools: [note],
      policy: {},
    });
    await (await start(on)).result();
    expect(models.asked.filter((name) => name !== 'b/two')).toEqual(['a/one env:KEY', 'a/one env:KEY', 'a/one env:KEY']);
  });

  it('a dearer model has no longer an answer than the cost cap allows at its own price', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': () => say('dear') });
    const cheap = { input: 0, output: 1 };
    const on = await worker({
      ...routeOver(models, [candidate('a/one', { price: cheap }), candidate('b/two', { price: { input: 0, output: 1_000 } })]),
      price: cheap,
      policy: {},
    });
    await (await start(on, { maxCostUsd: 1 })).result();
    expect(models.requests.at(-1)?.outputTokensMax).toBeLessThanOrEqual(1_000);
  });

  it('the reserved final answer goes to another model too', async () => {
    const models = fakeModels({
      'a/one': (request, n) => (request.toolChoice === 'none' ? limited() : call(['note', { n }])),
      'b/two': (request) => say(request.toolChoice === 'none' ? 'last word of two' : 'unexpected'),
    });
    const on = await worker({
      ...routeOver(models, [candidate('a/one'), candidate('b/two')]),
      tools: [note],
      policy: { finaliseAtRemainingTurns: 0 },
    });
    const run = await start(on, { maxTurns: 2 });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', output: 'last word of two', finalized: true });
    const { events } = await run.handle.fetchHistory();
    const seconds = events?.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'callModel' ? [Number(scheduled.scheduleToCloseTimeout?.seconds ?? 0)] : [],
    );
    // a model that is silent for half of the minute leaves the rest to the next one
    expect(seconds?.at(-2)).toBe(30);
    expect(seconds?.at(-1)).toBeGreaterThan(50);
  });
});
