import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { resolveCaps } from '../../src/activities/prepare/run-caps.js';
import { resolvePolicy } from '../../src/activities/prepare/run-policy.js';
import type { RunInput } from '../../src/contracts/schemas/run.js';
import { defineTool } from '../../src/define/define-tool.js';
import type { PresetName } from '../../src/define/presets.js';
import type { ModelRequest } from '../../src/providers/contract/provider.js';
import { call, lastTextOf, say } from '../support/agent-worker.js';
import { look } from '../support/tools/sample-tools.js';
import { latch, useWorkers } from '../support/use-workers.js';

const ALWAYS_NEW = (request: ModelRequest, n: number) => (request.toolChoice === 'none' ? say('sum') : call(['look', { n }]));
const ALWAYS_SAME = (request: ModelRequest) => (request.toolChoice === 'none' ? say('sum') : call(['look', { n: 1 }]));

describe('presets', () => {
  const { worker, start } = useWorkers();

  it('A-16: operator extends its cap while it gets on, up to four times it, and then ends with max_turns, without a warning', async () => {
    const on = await worker({ model: ALWAYS_NEW, tools: [look], ...preset('operator', { maxTurns: 4 }) });
    const run = await start(on, { maxTurns: 4 });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns: 16, output: 'sum' });
    expect((await run.events()).filter(({ type }) => type === 'finalise.warned')).toEqual([]);
  });

  it('A-18: operator ends at three equal turns in a row, with a final answer', async () => {
    const on = await worker({ model: ALWAYS_SAME, tools: [look], ...preset('operator') });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'loop_detected', turns: 3, output: 'sum' });
  });

  it('A-22: of a result over 1,200 characters operator reads the first 700, how many are gone, and the last 260', async () => {
    const long = `${'a'.repeat(700)}${'b'.repeat(1_040)}${'c'.repeat(260)}`;
    const tell = defineTool({ ...look, name: 'tell', execute: () => long });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['tell', { n }]) : say('done')), tools: [tell], ...preset('operator') });
    const run = await start(on);
    await run.result();
    const [part] = (await run.messages()).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'));
    const text = JSON.stringify(part);
    expect(text).toMatch(/[^a]a{700}[^a]/u);
    expect(text).toMatch(/[^c]c{260}[^c]/u);
    expect(text).not.toContain('bbbbbbbb');
    expect(text).toContain('1040 characters dropped');
  });

  it('B-23: zkit runs calls one after another, where others start reading ones together', async () => {
    const twice = call(['look', { n: 1 }], ['look', { n: 2 }]);
    const orderOf = async (name: PresetName) => {
      const on = await worker({ model: (_, n) => (n === 1 ? twice : say('done')), tools: [look], ...preset(name) });
      const run = await start(on);
      await run.result();
      return (await run.events()).map(({ type }) => type).filter((type) => type === 'tool.call' || type === 'tool.result');
    };
    expect(await orderOf('zkit')).toEqual(['tool.call', 'tool.result', 'tool.call', 'tool.result']);
    expect(await orderOf('orbiter')).toEqual(['tool.call', 'tool.call', 'tool.result', 'tool.result']);
  });

  it('B-02: zkit has no loop guard, and ends at twelve turns', async () => {
    const { maxTurns, policy } = preset('zkit');
    const on = await worker({ model: ALWAYS_SAME, tools: [look], policy });
    expect(await (await start(on, { maxTurns })).result()).toMatchObject({ reason: 'max_turns', turns: 12 });
  });

  it('C-11: openclaw reads one waiting message a turn', async () => {
    const asked = latch();
    const goOn = latch();
    const on = await worker({
      model: async (_, n) => {
        if (n > 1) return n < 4 ? call(['look', { n }]) : say('done');
        asked.open();
        await goOn.opened;
        return call(['look', { n }]);
      },
      tools: [look],
      ...preset('openclaw'),
    });
    const run = await start(on);
    await asked.opened;
    await run.handle.signal('steer', { id: 'a', text: 'first' });
    await run.handle.signal('steer', { id: 'b', text: 'second' });
    goOn.open();
    expect(await run.result()).toMatchObject({
      reason: 'completed',
      steers: [
        { id: 'a', state: 'delivered', turn: 2 },
        { id: 'b', state: 'delivered', turn: 3 },
      ],
    });
    expect(on.requests.map(lastTextOf).slice(1, 3)).toEqual(['first', 'second']);
  });

  it('D-02: forge ends with an error at its cap', async () => {
    const on = await worker({ model: ALWAYS_NEW, tools: [look], ...preset('forge') });
    await expect((await start(on, { maxTurns: 3 })).result()).rejects.toMatchObject({
      cause: { type: 'Run.MaxTurns', message: 'exceeded maximum turns (3)' },
    });
  });

  it('E-12: orbiter ends with an error at three equal turns, whatever the order of the keys', async () => {
    const parameters = z.strictObject({ a: z.number(), b: z.number() });
    const pair = defineTool({ name: 'look', description: 'Looks.', parameters, effect: 'read', execute: () => 'seen' });
    const on = await worker({
      model: (_, n) => call(['look', n % 2 === 0 ? { a: 1, b: 2 } : { b: 2, a: 1 }]),
      tools: [pair],
      ...preset('orbiter'),
    });
    await expect((await start(on)).result()).rejects.toMatchObject({ cause: { type: 'Run.LoopDetected' } });
    expect(on.requests).toHaveLength(3);
  });

  it('E-09: orbiter at its cap of ten turns says so in the result', async () => {
    const { maxTurns, policy } = preset('orbiter');
    const on = await worker({ model: ALWAYS_NEW, tools: [look], policy });
    expect(await (await start(on, { maxTurns })).result()).toMatchObject({ reason: 'max_turns', turns: 10 });
  });
});

/** What preparing gives a run of an agent that says nothing but its preset. */
function preset(name: PresetName, input: Partial<RunInput> = {}) {
  const agent = { description: 'd', prompt: 'p', preset: name };
  const run = { task: 't', ...input };
  const { maxTurns } = resolveCaps(run, agent, {});
  return { policy: resolvePolicy({ input: run, agent, config: {}, maxTurns }), maxTurns };
}
