import { describe, expect, inject, it } from 'vitest';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import { SecretMask } from '../../../src/contracts/text/secret-mask.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelProvider, ModelRequest } from '../../../src/providers/contract/provider.js';
import { say } from '../../support/agent-worker.js';
import { replayHistory } from '../../support/test-worker.js';
import { latch, until, untilAborted } from '../../support/use-workers.js';
import { texts } from './support/asking-desk.js';
import { ask, given, isCompletion, sampled, useSamplingDesk } from './support/sampling-desk.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('an MCP server that requests completions of the model of a run', { timeout: 90_000 }, () => {
  const desk = useSamplingDesk();

  it('gets the answer, with its system prompt, messages, image, limit and temperature; the run pays, and its transcript has none of it', async () => {
    const content = [
      { type: 'text', text: 'What colour is it?' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
    ];
    const params = {
      messages: [
        { role: 'user', content: { type: 'text', text: 'hello' } },
        { role: 'assistant', content: { type: 'text', text: 'hi' } },
        { role: 'user', content },
      ],
      systemPrompt: 'You see colours.',
      includeContext: 'allServers',
      modelPreferences: { hints: [{ name: 'gpt-99' }], costPriority: 1 },
      temperature: 0.5,
      maxTokens: 50,
    };
    const { run: begin, completions, logged } = await desk([['desk_look', { requests: [params] }]]);
    const run = await begin();
    const result = await run.result();
    expect(await given(run)).toEqual([
      [{ model: 'fake/model', role: 'assistant', stopReason: 'endTurn', content: { type: 'text', text: 'blue' } }],
    ]);
    expect(completions).toHaveLength(1);
    const [request] = completions;
    expect(request).toMatchObject({ prompt: 'You see colours.', tools: [], toolChoice: 'none', outputTokensMax: 50, temperature: 0.5 });
    expect(request?.messages.map(({ role, parts }) => ({ role, parts }))).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'hello' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'hi' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'What colour is it?' },
          { type: 'file', mime: 'image/png', dataBase64: PIXEL },
        ],
      },
    ]);
    const usage = { inputTokens: 10, outputTokens: 5 };
    expect(result).toMatchObject({
      reason: 'completed',
      turns: 2,
      usage: { inputTokens: 30, outputTokens: 15 },
      lastUsage: usage,
      byModel: [{ model: 'fake/model', calls: 3 }],
      sampled: { requests: 1, usage },
    });
    expect((await run.messages()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(await sampled(run)).toMatchObject([{ turn: 1, server: 'desk', outcome: 'answered', model: 'fake/model', usage }]);
    expect(await logged('client')).toEqual(['client {"sampling":{}}']);
    await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.handle.workflowId);
  });

  it('reports why an answer ended: at its limit, at a stop sequence, which cuts it, or by itself', async () => {
    const answers = ['cut', 'one END two', 'all'];
    const { run: begin } = await desk([['desk_look', { requests: ['a', 'b', 'c'].map((text) => ask(text, { stopSequences: ['END'] })) }]], {
      answer: (_, nth) => ({ ...say(answers[nth - 1] ?? ''), stop: nth === 1 ? 'length' : 'end' }),
    });
    const run = await begin();
    await run.result();
    expect(await given(run)).toMatchObject([
      [
        { stopReason: 'maxTokens', content: { text: 'cut' } },
        { stopReason: 'stopSequence', content: { text: 'one ' } },
        { stopReason: 'endTurn', content: { text: 'all' } },
      ],
    ]);
  });

  it('a completion has at most `maxTokens` of the server, and a call at most `maxRequests` completions', async () => {
    const requests = [ask('a', { maxTokens: 9_000 }), ask('b'), ask('c')];
    const { run: begin, completions } = await desk([['desk_look', { requests }]], { sampling: { maxTokens: 300, maxRequests: 2 } });
    const run = await begin();
    await run.result();
    expect(completions.map(({ outputTokensMax }) => outputTokensMax)).toEqual([300, 100]);
    expect(await given(run)).toMatchObject([[{}, {}, expect.stringContaining('a call may request at most 2 completions')]]);
    expect(await sampled(run)).toHaveLength(2);
  });

  it.each([
    ['tokens', { maxTokens: 2_000 }, 'fake/model'],
    ['money', { maxCostUsd: 0.02 }, 'fake/priced'],
  ])('a budget of %s that is spent refuses it, and the run never spends more', async (_, limits, model) => {
    const config = { model, models: { 'fake/priced': { price: { input: 10, output: 10 } } } };
    const used = { inputTokens: 400, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const { run: begin, completions } = await desk([['desk_look', { requests: ['a', 'b', 'c', 'd', 'e'].map((text) => ask(text)) }]], {
      config,
      answer: () => ({ ...say('blue'), usage: used }),
    });
    const run = await begin(limits);
    const result = await run.result();
    const [got = []] = (await given(run)) as unknown[][];
    const refused = got.filter((each) => typeof each === 'string');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toBe('-1 MCP error -1: the completion was refused: the budget of the run does not allow it');
    expect(completions.length).toBe(5 - refused.length);
    expect(completions.length).toBeGreaterThan(0);
    const { maxTokens = Number.POSITIVE_INFINITY, maxCostUsd = Number.POSITIVE_INFINITY } = limits as Record<string, number>;
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThanOrEqual(maxTokens);
    expect(result.costUsd ?? 0).toBeLessThanOrEqual(maxCostUsd);
    expect(await sampled(run)).toContainEqual(
      expect.objectContaining({ outcome: 'refused', reason: 'the budget of the run does not allow it' }),
    );
  });

  it('completions that run together share the budget', async () => {
    const held = latch();
    const { run: begin, completions } = await desk(
      ['a', 'b', 'c', 'd'].map((text) => ['desk_look', { requests: [ask(text, { maxTokens: 800 })] }] as const),
      {
        answer: async ({ outputTokensMax }) => {
          await held.opened;
          return { ...say('blue'), usage: { ...say('').usage, inputTokens: 10, outputTokens: outputTokensMax } as never };
        },
      },
    );
    const run = await begin({ maxTokens: 2_500 });
    await until(async () => (await sampled(run)).length + completions.length === 4, 'all requests');
    held.open();
    const { usage } = await run.result();
    expect(completions.length).toBeLessThan(4);
    expect(usage.inputTokens + usage.outputTokens).toBeLessThanOrEqual(2_500);
  });

  it('fails over to another model of the route', async () => {
    const asked: string[] = [];
    const providerFor = (model: string): ModelProvider | undefined => ({
      call: (request: ModelRequest) => {
        if (!isCompletion(request)) return Promise.resolve(request.messages.length > 1 ? say('done') : callLook);
        asked.push(model);
        if (model === 'fake/model') throw new ModelError('Model.Overloaded', 'too many requests', { status: 529 });
        return Promise.resolve(say('green'));
      },
    });
    const callLook = { parts: [{ type: 'tool_call', callId: 'p', name: 'desk_look', args: {} }], stop: 'tool_calls' } as const;
    const { run: begin } = await desk([], { config: { fallbacks: ['fake/second'] }, worker: { providerFor } });
    const run = await begin();
    const result = await run.result();
    expect(await given(run)).toMatchObject([[{ model: 'fake/second', content: { text: 'green' } }]]);
    expect(asked.at(-1)).toBe('fake/second');
    expect(result.models).toContain('fake/second');
  });

  it('a model that fails is an error for the server, and the call continues', async () => {
    const { run: begin } = await desk([['desk_look', { requests: [ask('a')] }]], {
      answer: () => {
        throw new ModelError('Model.BadRequest', 'no', { status: 400 });
      },
    });
    const run = await begin();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await given(run)).toEqual([[expect.stringContaining('-1 MCP error -1: the completion was failed: Model.BadRequest')]]);
    expect(await sampled(run)).toMatchObject([{ outcome: 'failed' }]);
  });

  it('the time limit of the call stands still while the model answers', async () => {
    const { run: begin } = await desk([['desk_look', {}]], {
      server: { timeoutMs: 4_000 },
      answer: async () => {
        const since = Date.now();
        await until(() => Date.now() > since + 4_500, 'the end of the limit');
        return say('late');
      },
    });
    const run = await begin();
    await run.result();
    expect(await given(run)).toMatchObject([[{ content: { text: 'late' } }]]);
  });

  it('no request carries a key of the worker to the model or the history', async () => {
    const known = [{ name: 'TOKEN', value: 'tk-5f0c2b8e41d7' }];
    const { run: begin, completions } = await desk([['desk_leak', {}]], {
      server: { env: { TOKEN: 'tk-5f0c2b8e41d7' } },
      worker: { secrets: new SecretMask(() => known) },
      answer: () => say('It is tk-5f0c2b8e41d7.'),
    });
    const run = await begin();
    await run.result();
    expect(completions[0]?.prompt).toBe('The key is [secret TOKEN].');
    expect((await texts(run))[0]).not.toContain('tk-5f0c2b8e41d7');
    expect(JSON.stringify((await run.handle.fetchHistory()).events)).not.toContain(
      Buffer.from('tk-5f0c2b8e41d7').toString('base64').slice(1, 12),
    );
  });

  it('a server that gives up withdraws its request, and the model call ends', async () => {
    const { run: begin } = await desk([['desk_brief', {}]], { answer: ({ signal }) => untilAborted(signal) });
    const run = await begin();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await given(run)).toEqual(['gave up']);
    expect(await sampled(run)).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('a cancel of the run ends the model call and the call', async () => {
    const { run: begin, completions } = await desk([['desk_book', {}]], { answer: ({ signal }) => untilAborted(signal) });
    const run = await begin();
    await until(() => completions.length === 1, 'the completion');
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(await sampled(run)).toMatchObject([{ outcome: 'cancelled' }]);
    expect((await run.handle.query<ApprovalList>('approvals')).questions ?? []).toEqual([]);
  });

  it('survives its server: the call that is made again takes the answer, and the model is asked once', async () => {
    const held = latch();
    const {
      run: begin,
      completions,
      logged,
    } = await desk([['desk_fragile', {}]], {
      answer: async () => {
        await held.opened;
        return say('blue');
      },
    });
    const run = await begin();
    await until(async () => (await logged('call fragile')).length === 2, 'the call to the next server');
    held.open();
    await run.result();
    expect(await given(run)).toMatchObject([{ content: { text: 'blue' } }]);
    expect(completions).toHaveLength(1);
  });

  it.each([
    ['look', 2, 'blue'],
    ['book', 1, 'unknown'],
  ])('survives its worker: a call of %s is made %i times, and ends with %s', async (tool, times, end) => {
    const mortal = { shutdownGraceMs: 100, taskQueue: `samples-${Date.now()}` };
    let isFirst = true;
    const {
      on,
      make,
      run: begin,
      completions,
      logged,
    } = await desk([[`desk_${tool}`, {}]], {
      worker: mortal,
      answer: async ({ signal }) => {
        if (!isFirst) return say('blue');
        isFirst = false;
        return await untilAborted(signal);
      },
    });
    const run = await begin();
    await until(() => completions.length === 1, 'the completion');
    await on.shutdown();
    await make();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await texts(run))[0]).toContain(end);
    expect(await logged(`call ${tool}`)).toHaveLength(times);
  });
});
