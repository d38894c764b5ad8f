import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';

const lookup = defineTool({
  name: 'lookup',
  description: 'Gives a long text.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `${n}: ${'lorem ipsum dolor '.repeat(1_000)}`,
});

describe('recoveries of a run', () => {
  const { worker, start } = useWorkers();

  it('B-13: JSON that the provider refuses is corrected three times in a row; the fourth refusal ends the run', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.BadJson', 'tool call arguments are not valid JSON');
      },
      policy: {},
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.BadJson' } });
    expect(on.requests).toHaveLength(4);
    expect((await run.messages()).filter(({ origin }) => origin === 'correction')).toHaveLength(3);
  });

  it('B-14: any other refusal is not corrected: one call, then the error', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.BadRequest', 'unknown parameter');
      },
      policy: {},
    });
    await expect((await start(on)).result()).rejects.toMatchObject({ cause: { type: 'Model.BadRequest' } });
    expect(on.requests).toHaveLength(1);
  });

  it('the counters are of recoveries in a row: a good answer sets them back', async () => {
    let refusals = 0;
    const on = await worker({
      model: (_, n) => {
        // two refusals before each of four answers: eight in all, never more than two in a row
        if (refusals < 2) {
          refusals += 1;
          throw new ModelError('Model.BadJson', 'not JSON');
        }
        refusals = 0;
        return n < 12 ? call(['lookup', { n }]) : say('done');
      },
      tools: [lookup],
      policy: {},
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output: 'done' });
  });

  it('an empty stream is asked again with a growing wait, three times, without any correction', async () => {
    const on = await worker({
      model: (_, n) => {
        if (n <= 4) throw new ModelError('Model.EmptyStream', 'nothing came');
        return say('here I am');
      },
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'here I am' });
    expect((await run.messages()).filter(({ origin }) => origin === 'correction')).toEqual([]);
  });

  it('B-18: thinking beyond its budget is corrected twice, then ends the run', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.ThinkingBudget', 'thought for 5,000 tokens');
      },
      policy: { thinkingTokensMax: 1_000 },
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.ThinkingBudget' } });
    expect(on.requests).toHaveLength(3);
  });

  it('M9, C-18: an overflow is compacted away, then the largest result is shortened, and the pairing holds', async () => {
    const sizes: number[] = [];
    const on = await worker({
      model: (request, n) => {
        const chars = JSON.stringify(request.messages).length;
        sizes.push(chars);
        if (n <= 6) return call(['lookup', { n }]);
        if (chars > 30_000) throw new ModelError('Model.ContextOverflow', 'prompt is too long');
        return say('read it all');
      },
      tools: [lookup],
      policy: { compaction: { keepRecentTokens: 1_000 } },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'read it all' });
    expect((await run.events()).filter(({ type }) => type === 'compacted').length).toBeGreaterThanOrEqual(1);
    expect(sizes.at(-1)).toBeLessThanOrEqual(30_000);
  });

  it('C-18: an overflow with nothing to make shorter ends the run after the first attempt', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.ContextOverflow', 'prompt is too long');
      },
      policy: {},
    });
    await expect((await start(on)).result()).rejects.toMatchObject({ cause: { type: 'Model.ContextOverflow' } });
    expect(on.requests).toHaveLength(1);
  });

  it('an empty answer is corrected once, then asked for without tools, and no text is invented', async () => {
    const on = await worker({ model: () => say('  '), policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: '', emptyAnswer: true });
    expect(on.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'none']);
  });

  it('an answer that comes only when asked without tools is the output', async () => {
    const on = await worker({ model: (request) => say(request.toolChoice === 'none' ? 'there it is' : ''), policy: {} });
    const result = await (await start(on)).result();
    expect(result).toMatchObject({ reason: 'completed', output: 'there it is' });
    expect(result).not.toHaveProperty('emptyAnswer');
  });

  it('B-31: a tool call that leaked into the text is noticed, and the model is told', async () => {
    const on = await worker({
      model: (request, n) =>
        n === 1 ? say('<tool_call>{"name": "lookup", "arguments": {"n": 1}}</tool_call>') : say(`told ${lastTextOf(request)}`),
      tools: [lookup],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, output: expect.stringContaining('told ') });
    expect((await run.events()).find(({ type }) => type === 'answer.corrected')).toMatchObject({ turn: 1 });
  });

  it('M20: a refusal ends the run with that reason and its text, and is not asked again', async () => {
    const on = await worker({ model: () => ({ ...say('I cannot help with that.'), stop: 'refusal' }), policy: {} });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'refusal', output: 'I cannot help with that.' });
    expect(on.requests).toHaveLength(1);
  });

  it('M21: pause_turn answers are sent back as they are, ten in a row at most', async () => {
    const on = await worker({ model: (request) => ({ ...say(`part ${request.messages.length}`), stop: 'paused' }), policy: {} });
    const result = await (await start(on)).result();
    expect(result).toMatchObject({ reason: 'completed', turns: 11 });
  });
});
