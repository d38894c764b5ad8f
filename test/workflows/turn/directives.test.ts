import { describe, expect, it } from 'vitest';
import { failure } from '../../../src/activities/runtime/failures.js';
import { STEER_LIMITS } from '../../../src/contracts/constants/limits.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type AgentWorkerOptions, call, lastTextOf, say } from '../../support/agent-worker.js';
import { failedTasks } from '../../support/histories/failed-tasks.js';
import { candidate, coolingFor, type FakeModels, fakeModels } from '../../support/model-route.js';
import { note } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

const limited = (): never => {
  throw new ModelError('Model.RateLimited', 'too many requests', { status: 429, retryAfterMs: 120_000 });
};

/** A model that goes on for so many requests. */
const talk = (steps: number): FakeModels =>
  fakeModels({ 'a/one': (_, n) => (n < steps ? call(['note', { n }]) : say('one ends it')), 'c/three': () => say('three ends it') });

const optionsFor = (models: FakeModels): AgentWorkerOptions => ({
  model: () => {
    throw new Error('the run has a route');
  },
  providerFor: models.providerFor,
  route: [candidate('a/one')],
  tools: [note],
  policy: {},
  resolveModel: (model) =>
    model.startsWith('nobody/') ? { problem: `unknown model ${model}` } : { candidate: candidate(model, { thinking: 'high' }) },
});

describe('/model and /think', () => {
  const { worker, start } = useWorkers();

  /** A run that finds these messages when it begins. */
  const startWith = async (texts: Readonly<Record<string, string>>, options: AgentWorkerOptions) => {
    const sent = latch();
    const run = await start(await worker({ ...options, beforePrepare: () => sent.opened }));
    for (const [id, text] of Object.entries(texts)) await run.handle.signal('steer', { id, text });
    sent.open();
    return run;
  };

  it('C-16: a model that a message asks for answers from the next request on; the words behind it are read', async () => {
    const models = talk(100);
    const run = await startWith({ m: '/model c/three\nand be brief' }, optionsFor(models));
    const result = await run.result();
    expect(result).toMatchObject({ output: 'three ends it', switches: [{ turn: 1, from: 'a/one', to: 'c/three', why: 'asked for' }] });
    expect(models.asked).toEqual(['c/three']);
    expect(models.requests[0] && lastTextOf(models.requests[0])).toBe('and be brief');
    expect(result.steers).toEqual([expect.objectContaining({ id: 'm', state: 'delivered', turn: 1 })]);
  });

  it('A1: a chain of 100,000 commands is a few commands and a text, and no workflow task fails', async () => {
    const models = talk(1);
    const run = await startWith({ m: '/think a\n'.repeat(100_000) }, optionsFor(models));
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'one ends it' });
    const refusals = (await run.events()).filter((event) => event.type === 'notice' && event.text.includes('/think refused'));
    expect(refusals).toHaveLength(STEER_LIMITS.directivesMax);
    expect(models.requests[0] && lastTextOf(models.requests[0])).toMatch(/^(?:\/think a\n)+\/think a$/u);
    expect(await failedTasks(run.handle.client, run.runId)).toEqual([]);
  });

  it('A1: a model name of half a megabyte is refused, and no workflow task fails', async () => {
    const run = await startWith({ m: `/model nobody/${'x'.repeat(500_000)}` }, optionsFor(talk(1)));
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', models: ['a/one'], steers: [{ id: 'm', state: 'refused' }] });
    expect(await failedTasks(run.handle.client, run.runId)).toEqual([]);
  });

  it('a model that is left alone is asked all the same when a message wants it', async () => {
    const models = fakeModels({
      'a/one': (_, n) => (n === 1 ? limited() : say('one after all')),
      'b/two': async (_, n) => {
        if (n === 1) await run.handle.signal('steer', { id: 'm', text: '/model a/one' });
        return call(['note', { n }]);
      },
    });
    const run = await startWith({}, { ...optionsFor(models), route: [candidate('a/one'), candidate('b/two')] });
    expect(await run.result()).toMatchObject({ output: 'one after all', turns: 2 });
    expect(models.asked).toEqual(['a/one', 'b/two', 'a/one']);
  });

  it('a model that there is not is refused with the reason, and the run goes on as it was', async () => {
    const run = await startWith({ m: '/model nobody/x' }, optionsFor(talk(3)));
    const result = await run.result();
    expect(result).toMatchObject({ output: 'one ends it', models: ['a/one'] });
    expect(result.steers).toEqual([{ id: 'm', state: 'refused', reason: 'unknown model nobody/x' }]);
  });

  it('what stands behind a wish that cannot be is followed and read all the same, and why it cannot be is told', async () => {
    const models = talk(1);
    const run = await startWith({ m: '/model nobody/x\n/think hard\n/model c/three\nand be brief' }, optionsFor(models));
    const result = await run.result();
    expect(result).toMatchObject({ output: 'three ends it', turns: 1, switches: [{ to: 'c/three' }] });
    expect(models.requests.map(lastTextOf)).toEqual(['and be brief']);
    expect(result.steers).toEqual([{ id: 'm', state: 'delivered', turn: 1 }]);
    expect((await run.events()).filter(({ type }) => type === 'notice')).toMatchObject([
      { text: 'message m: /model refused: unknown model nobody/x; the rest of the message is delivered' },
      {
        text: expect.stringMatching(/^message m: \/think refused: BAD_THINKING hard: use off, .*; the rest of the message is delivered$/u),
      },
    ]);
  });

  it('a run that began when such words were dropped goes on dropping them', async () => {
    const models = talk(1);
    const before = { ...optionsFor(models), policy: { keepRestOfRefused: false } };
    const run = await startWith({ m: '/model nobody/x\nand be brief' }, before);
    expect((await run.result()).steers).toEqual([{ id: 'm', state: 'refused', reason: 'unknown model nobody/x' }]);
    expect(models.requests.map(lastTextOf)).not.toContain('and be brief');
  });

  it('C-16: a wish for another model that comes with the last answer is dropped, and makes no turn', async () => {
    const models = fakeModels({
      'a/one': async () => {
        await run.handle.signal('steer', { id: 'late', text: '/model c/three' });
        return say('the end');
      },
    });
    const run = await start(await worker(optionsFor(models)));
    const result = await run.result();
    expect(result).toMatchObject({ output: 'the end', turns: 1, unconsumed: [{ id: 'late', text: '/model c/three' }] });
    expect(result.switches).toBeUndefined();
  });

  it('C-16: the reserved final answer reads what stands behind a wish, and never the wish', async () => {
    const models = fakeModels({
      'a/one': async (request) => {
        if (request.toolChoice === 'none') return say('last');
        await run.handle.signal('steer', { id: 'x', text: '/model c/three' });
        await run.handle.signal('steer', { id: 'y', text: '/think high\nname the files' });
        return call(['note', { n: 1 }]);
      },
    });
    const run = await start(await worker(optionsFor(models)), { maxTurns: 1 });
    expect(await run.result()).toMatchObject({ output: 'last', unconsumed: [{ id: 'x' }] });
    const texts = models.requests
      .at(-1)
      ?.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
    expect(texts).toContain('name the files');
    expect(texts?.join('\n')).not.toMatch(/\/model|\/think/u);
  });

  it('a wish that comes while another one is looked up is followed too, and no model reads it', async () => {
    const looking = latch();
    const looked: string[] = [];
    const models = fakeModels({ 'd/four': () => say('four') });
    const run = await startWith(
      { x: '/model c/three' },
      {
        ...optionsFor(models),
        resolveModel: async (model) => {
          looked.push(model);
          if (model === 'c/three') await looking.opened;
          return { candidate: candidate(model) };
        },
      },
    );
    await until(() => looked.length > 0, 'the look-up');
    await run.handle.signal('steer', { id: 'y', text: '/model d/four\nand be brief' });
    looking.open();
    expect(await run.result()).toMatchObject({ output: 'four', switches: [{ to: 'c/three' }, { to: 'd/four' }] });
    expect(models.requests.map(lastTextOf)).toEqual(['and be brief']);
  });

  it('two wishes in one message are both followed', async () => {
    const models = talk(1);
    const run = await startWith({ x: '/model c/three\n/think high\ndo it well' }, optionsFor(models));
    expect(await run.result()).toMatchObject({ output: 'three ends it' });
    expect(models.requests.map(lastTextOf)).toEqual(['do it well']);
    expect(models.requests[0]?.thinking).toMatchObject({ effort: 'high' });
  });

  it('a wish ends the wait for models that are left alone, in the same turn', async () => {
    const models = fakeModels({ 'a/one': () => Promise.reject(coolingFor(55_000)), 'b/two': limited, 'c/three': () => say('three') });
    const run = await start(await worker({ ...optionsFor(models), route: [candidate('a/one'), candidate('b/two')] }));
    await until(async () => /cooling down until/u.test((await run.progress()).waitingFor ?? ''), 'the wait');
    await run.handle.signal('steer', { id: 'x', text: '/model c/three' });
    expect(await run.result()).toMatchObject({ output: 'three', turns: 1, switches: [{}, { turn: 1, to: 'c/three', why: 'asked for' }] });
  });

  it('a look-up whose worker is lost is made again', async () => {
    let looks = 0;
    const models = talk(1);
    const run = await startWith(
      { x: '/model c/three' },
      {
        ...optionsFor(models),
        resolveModel: (model) => {
          looks += 1;
          if (looks === 1) throw failure('Worker.Died', 'the worker died');
          return { candidate: candidate(model) };
        },
      },
    );
    expect(await run.result()).toMatchObject({ output: 'three ends it' });
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'worker.lost', activity: 'resolveModel', losses: 1 }));
  });

  it('C-32: a level that a message asks for goes with the next request, and with that to a fallback', async () => {
    const models = fakeModels({ 'a/one': limited, 'b/two': () => say('two') });
    const run = await startWith(
      { t: '/think high' },
      { ...optionsFor(models), route: [candidate('a/one'), candidate('b/two', { thinking: 'low' })] },
    );
    expect((await run.result()).steers).toEqual([{ id: 't', state: 'delivered', turn: 1 }]);
    expect(models.requests.map(({ thinking }) => thinking)).toEqual([
      { style: 'effort', effort: 'high' },
      { style: 'effort', effort: 'high' },
    ]);
  });

  it('C-32: what is no level is refused with those there are, however long it is', async () => {
    const run = await startWith({ bad: '/think hard', long: `/think ${'x'.repeat(10_000)}` }, optionsFor(talk(1)));
    const [bad, long] = (await run.result()).steers ?? [];
    expect(bad).toMatchObject({ id: 'bad', state: 'refused', reason: expect.stringContaining('off, minimal, low, medium, high') });
    expect(long).toMatchObject({ id: 'long', state: 'refused' });
    expect(long?.reason?.length).toBeLessThanOrEqual(500);
    expect((await run.events()).map(({ type }) => type)).toContain('steer.refused');
  });

  it('B-31: thinkingOffWhenEmpty turns thinking off after an answer without text or call', async () => {
    const models = fakeModels({ 'a/one': (_, n) => say(n === 1 ? '' : 'a word') });
    const on = await worker({
      ...optionsFor(models),
      route: [candidate('a/one', { thinking: 'high' })],
      policy: { thinkingOffWhenEmpty: true },
    });
    expect(await (await start(on)).result()).toMatchObject({ output: 'a word' });
    expect(models.requests.map(({ thinking }) => thinking?.style)).toEqual(['effort', 'off']);
  });
});
