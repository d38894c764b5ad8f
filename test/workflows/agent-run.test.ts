import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/define/define-tool.js';
import { ModelError } from '../../src/providers/contract/model-error.js';
import { call, say } from '../support/agent-worker.js';
import { echo } from '../support/tools/sample-tools.js';
import { useWorkers } from '../support/use-workers.js';

describe('agentRun', () => {
  const { worker, start } = useWorkers();

  it('a run whose model answers with text completes with that text after one turn', async () => {
    const on = await worker({ model: () => say('done') });
    const result = await (await start(on)).result();
    expect(result).toMatchObject({ v: 1, reason: 'completed', output: 'done', turns: 1, toolCalls: 0, models: ['fake/model'] });
  });

  it('a tool call is answered before the next request, and its result is what the model reads', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['echo', { text: 'hello' }]) : say('heard')), tools: [echo] });
    const result = await (await start(on)).result();
    expect(result).toMatchObject({ reason: 'completed', output: 'heard', turns: 2, toolCalls: 1 });
    const last = on.requests[1]?.messages.at(-1);
    expect(last).toMatchObject({
      role: 'tool',
      parts: [{ type: 'tool_result', isError: false, parts: [{ type: 'text', text: 'hello' }] }],
    });
  });

  it('B-08: the finalise warning is in exactly one request, the first with three turns left, and never in the transcript', async () => {
    const on = await worker({
      model: (request, n) => (request.toolChoice === 'none' ? say('final') : call(['echo', { text: String(n) }])),
      tools: [echo],
    });
    const run = await start(on, { maxTurns: 6 });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', output: 'final', finalized: true, turns: 6 });
    const warned = on.requests.map((request) => request.messages.filter((message) => message.id === 'finalise-warning').length);
    expect(warned).toEqual([0, 0, 0, 1, 0, 0, 0]);
    expect((await run.messages()).some((message) => message.id === 'finalise-warning')).toBe(false);
  });

  it('at the cap the reserved call offers the same tools with choice none, and calls it returns anyway are dropped', async () => {
    const on = await worker({ model: (_, n) => call(['echo', { text: String(n) }]), tools: [echo] });
    const result = await (await start(on, { maxTurns: 2 })).result();
    expect(result).toMatchObject({ reason: 'max_turns', turns: 2, toolCalls: 2, finalized: false });
    expect(on.requests).toHaveLength(3);
    expect(on.requests[2]).toMatchObject({ toolChoice: 'none', tools: [{ name: 'echo' }] });
  });

  it('a model that refuses its key ends the run with reason error after one request, and result() carries the whole result', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.Auth', 'the key was refused');
      },
    });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({
      cause: { type: 'Model.Auth', details: [{ reason: 'error', turns: 1, error: { type: 'Model.Auth', turn: 1 } }] },
    });
    expect(on.requests).toHaveLength(1);
    expect(await run.handle.query('result')).toMatchObject({ reason: 'error' });
  });

  it('a failing model is tried three times, then the run ends with its error', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.Overloaded', 'busy', { retryAfterMs: 500 });
      },
    });
    await expect((await start(on)).result()).rejects.toMatchObject({ cause: { type: 'Model.Overloaded' } });
    expect(on.requests).toHaveLength(3);
  });

  it('a model that cannot be reached is waited for, and the wait names itself', async () => {
    const on = await worker({
      model: (_, n) => {
        if (n <= 3) throw new ModelError('Model.Unreachable', 'connection refused', { retryAfterMs: 500 });
        return say('back');
      },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'back' });
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'waiting', for: 'model unreachable, attempt 1' }));
  });

  it('a token budget ends the run with reason budget and a final answer', async () => {
    const on = await worker({
      model: (request, n) =>
        request.toolChoice === 'none' ? say('sum') : { ...call(['echo', { text: String(n) }]), usage: usageOf(4_000) },
      tools: [echo],
    });
    const result = await (await start(on, { maxTokens: 10_000 })).result();
    expect(result).toMatchObject({ reason: 'budget', output: 'sum', finalized: true });
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThanOrEqual(10_000);
  });

  it('a deadline aborts the running call and still leaves a final answer', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Takes long.',
      parameters: z.strictObject({}),
      execute: (_, ctx) => new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stopped')))),
    });
    const on = await worker({ model: (request) => (request.toolChoice === 'none' ? say('so far') : call(['slow', {}])), tools: [slow] });
    const run = await start(on, { deadlineMs: 1_500 });
    expect(await run.result()).toMatchObject({ reason: 'deadline', output: 'so far', finalized: true });
  });

  it('an answer cut by the output limit runs no call, tells the model twice, then ends with max_tokens', async () => {
    const on = await worker({ model: () => ({ ...call(['echo', { text: 'x' }]), stop: 'length' }), tools: [echo] });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'max_tokens', turns: 3, toolCalls: 0 });
  });
});

function usageOf(inputTokens: number) {
  return { inputTokens, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}
