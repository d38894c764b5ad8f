import { ApplicationFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Usage } from '../../../src/contracts/schemas/model.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type AgentWorker, say } from '../../support/agent-worker.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

describe('callModel', () => {
  const { worker, start } = useWorkers();

  it('M1: a failing model is tried again after one second and then two', async () => {
    const at: number[] = [];
    const on = await worker({
      model: (_, n) => {
        at.push(Date.now());
        if (n < 3) throw new ModelError('Model.Overloaded', '500');
        return say('ok');
      },
    });
    expect(await (await start(on)).result()).toMatchObject({ output: 'ok', turns: 1 });
    expect(at[1]).toBeGreaterThanOrEqual((at[0] ?? 0) + 900);
    expect(at[2]).toBeGreaterThanOrEqual((at[1] ?? 0) + 1_900);
  });

  it('a 429 with Retry-After is tried again after that delay', async () => {
    const at: number[] = [];
    const on = await worker({
      model: (_, n) => {
        at.push(Date.now());
        if (n === 1) throw new ModelError('Model.RateLimited', '429', { retryAfterMs: 3_000 });
        return say('ok');
      },
    });
    await (await start(on)).result();
    expect(at[1]).toBeGreaterThanOrEqual((at[0] ?? 0) + 2_900);
  });

  it('M3: a Retry-After of a day is not waited for: the run ends with the time in its error', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.RateLimited', '429', { retryAfterMs: 86_400_000 });
      },
    });
    const run = await start(on);
    await expect(run.result()).rejects.toThrow('Workflow execution failed');
    expect(await run.handle.query('result')).toMatchObject({
      reason: 'error',
      error: { type: 'Model.RateLimited', message: expect.stringContaining('86400 s') },
    });
    expect(on.requests).toHaveLength(1);
  });

  it('M28: a server that reports no usage is charged by estimate', async () => {
    const on = await worker({ model: () => ({ parts: [{ type: 'text', text: 'ok' }], stop: 'end' }) });
    const { usage } = await (await start(on)).result();
    expect(usage.inputTokens).toBeGreaterThan(0);
  });

  it('what a proxy puts in place of the id of a request is cut, and a key taken out of it, before anybody reads it', async () => {
    const requestId = `Bearer sk-canary-0123456789 ${'x'.repeat(9_000)}`;
    const on = await worker({ model: () => ({ ...say('ok'), requestId }) });
    const run = await start(on);
    await run.result();
    const shown = [...(await run.events()), new ModelError('Model.Overloaded', '529', { requestId })].flatMap((each) =>
      'requestId' in each ? [each.requestId] : [],
    );
    expect(shown).toHaveLength(2);
    for (const id of shown) expect(id).toMatch(/^Bearer \[redacted\] x{100,200}… \[cut\]$/u);
  });

  it('an attempt that a shutdown ended is charged with what it had streamed', async () => {
    const first = await worker({
      model: (request) => {
        request.onDelta({ type: 'text', text: 'x'.repeat(4_000) });
        return untilAborted(request.signal);
      },
    });
    const run = await start(first);
    await until(() => first.requests.length === 1, 'the request');
    await first.shutdown();
    await worker({ model: () => say('ok'), taskQueue: first.taskQueue });
    const { usage, lastUsage } = await run.result();
    expect(usage.outputTokens).toBe(1_000 + (lastUsage?.outputTokens ?? 0));
    expect(usage.inputTokens).toBeGreaterThan(lastUsage?.inputTokens ?? 0);
  });

  it('an attempt whose worker died is charged from its last heartbeat', async () => {
    const usage: Usage = { inputTokens: 700, outputTokens: 30, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const result = await loseFirstCall([{ phase: 'model', elapsedMs: 1, usage }]);
    expect(result.usage).toMatchObject({ inputTokens: 710, outputTokens: 35 });
  });

  it('an attempt whose worker died without a heartbeat is charged with all that was set aside for it', async () => {
    const result = await loseFirstCall([]);
    expect(result.usage.outputTokens).toBe(MODEL_LIMITS.outputTokensDefault + 5);
    expect(result.usage.inputTokens).toBeGreaterThan(10);
  });

  it('a budget is kept also by lost attempts: what they used is gone', async () => {
    const usage: Usage = { inputTokens: 49_900, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const result = await loseFirstCall([{ usage }], { maxTokens: 50_000 });
    expect(result).toMatchObject({ reason: 'budget', finalized: true });
  });

  /** The first model call is failed as a recovered worker death does; the others answer. */
  async function loseFirstCall(details: readonly unknown[], input = {}) {
    const gone = latch();
    const on = await worker({
      model: (request, n) => {
        if (n === 1) return gone.opened.then(() => say('too late'));
        return request.toolChoice === 'none' ? say('sum') : say('ok');
      },
    });
    const run = await start(on, input);
    await until(() => on.requests.length === 1, 'the first request');
    await failActivity(run, details, on);
    const result = await run.result();
    gone.open();
    return result;
  }
});

async function failActivity(run: TestRun, details: readonly unknown[], { client }: AgentWorker): Promise<void> {
  const { raw, runId } = await run.handle.describe();
  const activityId = raw.pendingActivities?.[0]?.activityId ?? '';
  const died = ApplicationFailure.create({ type: 'Worker.Died', nonRetryable: true, message: 'gone', details: [...details] });
  await client.activity.fail({ workflowId: run.runId, runId, activityId }, died);
}
