import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { defineHook } from '../../../src/define/define-hook.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { candidate, fakeModels } from '../../support/model-route.js';
import { until, untilAborted, useWorkers } from '../../support/use-workers.js';

describe('attempts of a model call that failed in the midst of their answers', () => {
  const { worker, start } = useWorkers();

  it('are charged with what had come of them, each once, and are not taken for the size of the transcript', async () => {
    const on = await worker({ model: (request, n) => (n === 3 ? say('ok') : cut(request, 4_000)) });
    const { usage, lastUsage } = await (await start(on)).result();
    expect(usage.outputTokens).toBe(2 * 1_000 + 5);
    expect(lastUsage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it('are charged also when no attempt answers', async () => {
    const run = await start(await worker({ model: (request) => cut(request, 4_000) }));
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.StreamTruncated' } });
    expect(await run.handle.query<RunResult>('result')).toMatchObject({
      usage: { outputTokens: MODEL_LIMITS.attemptsMax * 1_000 },
    });
  });

  it('are charged also when each of them took too long', async () => {
    const on = await worker({
      model: async (request) => {
        request.onDelta({ type: 'text', text: 'x'.repeat(4_000) });
        return await untilAborted(request.signal);
      },
      route: [candidate('a/one', { times: { totalMs: MODEL_LIMITS.turnTimeoutMarginMs + 1_000 } })],
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.Timeout' } });
    expect(await run.handle.query<RunResult>('result')).toMatchObject({ usage: { outputTokens: MODEL_LIMITS.attemptsMax * 1_000 } });
  });

  it('are charged also when another run finds the model limited before the next attempt', async () => {
    const models = fakeModels({
      'a/one': (request, n) => {
        if (n === 1) return cut(request, 4_000, 4_000);
        throw new ModelError('Model.RateLimited', '429', { retryAfterMs: 120_000 });
      },
      'b/two': () => say('two'),
    });
    const route = [candidate('a/one'), candidate('b/two')];
    const on = await worker({ model: () => say('nobody asks this one'), providerFor: models.providerFor, route, policy: {} });
    const run = await start(on);
    await until(() => models.asked.length === 1, 'the cut attempt');
    await (await start(on)).result();
    const { usage, byModel } = await run.result();
    expect(models.asked).toEqual(['a/one', 'a/one', 'b/two', 'b/two']);
    expect(usage.outputTokens).toBe(1_000 + 5);
    expect(byModel).toMatchObject([
      { model: 'a/one', calls: 0, usage: { outputTokens: 1_000 } },
      { model: 'b/two', calls: 1 },
    ]);
  });

  it('are charged also when a hook refuses the answer that came in the end', async () => {
    const refuseAll = defineHook({ name: 'censor', on: 'after-model', run: () => ({ action: 'block', reason: 'no' }) });
    const on = await worker({ model: (request, n) => (n === 1 ? cut(request, 4_000) : say('ok')), hooks: [refuseAll], policy: {} });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Hook.Blocked' } });
    expect(await run.handle.query<RunResult>('result')).toMatchObject({ usage: { outputTokens: 1_000 + 5 } });
  });

  it('an answer that is too large to be kept is paid all the same', async () => {
    const on = await worker({ model: () => say('x'.repeat(MODEL_LIMITS.answerBytesMax)) });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.BadResponse' } });
    expect(await run.handle.query<RunResult>('result')).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5 } });
  });

  it('one that failed before a word came is not', async () => {
    const on = await worker({
      model: (_, n) => {
        if (n === 1) throw new ModelError('Model.Overloaded', 'busy', { retryAfterMs: 500 });
        return say('ok');
      },
    });
    expect(await (await start(on)).result()).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5 } });
  });

  it('pass a budget by at most attempts − 1 answers: the next turn knows what they used', async () => {
    const on = await worker({
      model: (request, n) => (request.toolChoice === 'none' ? say('sum') : n % 3 === 0 ? call(['nothing', { n }]) : cut(request, 16_000)),
      policy: {},
    });
    const result = await (await start(on, { maxTokens: 20_000 })).result();
    // two cut attempts of 4,000 tokens a turn: without them the budget would last for twenty turns
    expect(result).toMatchObject({ reason: 'budget', output: 'sum' });
    expect(result.turns).toBeLessThanOrEqual(3);
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThan(20_000 + 2 * MODEL_LIMITS.outputTokensDefault);
  });
});

function cut(request: ModelRequest, chars: number, retryAfterMs = 500): never {
  request.onDelta({ type: 'text', text: 'x'.repeat(chars) });
  throw new ModelError('Model.StreamTruncated', 'the stream was cut', { retryAfterMs });
}
