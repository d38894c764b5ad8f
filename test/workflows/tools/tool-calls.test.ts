import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../../src/define/define-tool.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { bareTool, lookWith } from '../../support/tools/sample-tools.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

describe('tool calls of a run', () => {
  const { worker, start } = useWorkers();

  it('A-14: read calls of one answer run at once, four at most, and their results are in call order', async () => {
    let running = 0;
    let most = 0;
    const gate = latch();
    const look = lookWith(async ({ n }) => {
      running += 1;
      most = Math.max(most, running);
      if (most >= 4) gate.open();
      await gate.opened;
      running -= 1;
      return `seen ${n}`;
    });
    const calls = Array.from({ length: 9 }, (_, n) => ['look', { n }] as const);
    const on = await worker({ model: (_, n) => (n === 1 ? call(...calls) : say('ok')), tools: [look] });
    await (await start(on)).result();
    expect(most).toBe(4);
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(calls.map(([, { n }]) => `seen ${n}`));
  });

  it('A-15, B-21: an unknown tool, bad arguments and a throwing tool are results the model reads; the run goes on', async () => {
    const broken = bareTool('broken', () => {
      throw new Error('no such table');
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['Broken', {}], ['broken', { extra: 1 }], ['broken', {}]) : say('ok')),
      tools: [broken],
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed' });
    const [unknown, invalid, threw] = resultTexts(on.requests[1]?.messages ?? []);
    expect(unknown).toBe('no tool named "Broken"; available: broken');
    expect(invalid).toContain('invalid arguments for broken:');
    expect(threw).toBe('no such table');
  });

  it('C8: a tool that exceeds its timeout is stopped and the model reads it; it is not tried again', async () => {
    let starts = 0;
    const neverEnds = (_: object, ctx: ToolContext) => {
      starts += 1;
      return untilAborted(ctx.signal);
    };
    const slow = bareTool('slow', neverEnds, { effect: 'idempotent', timeoutMs: 1_000 });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['slow', {}]) : say('ok')), tools: [slow] });
    await (await start(on)).result();
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toContain('timed out after 1s');
    expect(starts).toBe(1);
  });

  it('P3, A14: a once call whose worker died is not started again, and the model is told that its outcome is unknown', async () => {
    const { on, run, starts } = await loseWorkerOf('once');
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', unknownOutcomes: [expect.any(String)] });
    expect(starts()).toBe(1);
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toContain('[outcome unknown]');
    const { tool, lastTool, unknownOutcomes } = await run.progress();
    expect({ tool, lastTool, unknownOutcomes }).toEqual({ tool: undefined, lastTool: 'act', unknownOutcomes: 1 });
    const steps = await run.handle.query<readonly object[]>('steps');
    expect(steps).toMatchObject([{ unknownOutcomes: 1 }, { status: 'success' }]);
    expect(steps[1]).not.toHaveProperty('unknownOutcomes');
    const unknown = (await run.events()).find((event) => event.type === 'tool.result' && event.outcome === 'unknown');
    expect(unknown).toMatchObject({ callId: result.unknownOutcomes?.[0] });
  });

  it('P4: an idempotent call whose worker died is started again with the same key', async () => {
    const { run, starts, keys } = await loseWorkerOf('idempotent');
    await until(() => starts() === 2, 'the second start');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(new Set(keys).size).toBe(1);
  });

  it('a once call whose reconcile finds it done is answered with what was found', async () => {
    const { on, run, starts } = await loseWorkerOf('once', () => Promise.resolve({ kind: 'done', result: 'it is there' }));
    await run.result();
    expect(starts()).toBe(1);
    expect(resultTexts(on.requests[1]?.messages ?? [])[0]).toBe('it is there');
  });

  it('a once call whose reconcile finds it not started is started once more', async () => {
    const { run, starts } = await loseWorkerOf('once', () => Promise.resolve({ kind: 'not_started' }));
    await until(() => starts() === 2, 'the second start');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
  });

  it('a workspace tool runs on the queue of the host that has the folder', async () => {
    const toolQueue = `host-${randomUUID()}`;
    const where: string[] = [];
    const tool = (name: string) => bareTool('where', () => where.push(name), { effect: 'read' });
    await worker({ model: () => say('never asked'), tools: [tool('host')], taskQueue: toolQueue });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['where', {}]) : say('ok')), tools: [tool('anywhere')], toolQueue });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed' });
    expect(where).toEqual(['host']);
  });

  /** Fails the first start of a tool as a recovered worker death does: by id, as `Worker.Died`. */
  async function loseWorkerOf(
    effect: 'once' | 'idempotent',
    reconcile?: () => Promise<{ kind: 'done'; result: string } | { kind: 'not_started' }>,
  ) {
    const keys: string[] = [];
    const tool = defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: z.strictObject({}),
      effect,
      ...(reconcile ? { reconcile } : {}),
      execute: (_, ctx) => {
        keys.push(ctx.idempotencyKey);
        if (keys.length > 1) return 'done again';
        return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('gone'))));
      },
    });
    const on: AgentWorker = await worker({ model: (_, n) => (n === 1 ? call(['act', {}]) : say('ok')), tools: [tool] });
    const run: TestRun = await start(on);
    await until(() => keys.length === 1, 'the first start');
    const { pendingActivities } = (await run.handle.describe()).raw;
    const activityId = pendingActivities?.find((activity) => activity.activityType?.name === 'callTool')?.activityId;
    const { runId: executionId } = await run.handle.describe();
    await on.client.activity.fail(
      { workflowId: run.runId, runId: executionId, activityId: activityId ?? '' },
      ApplicationFailure.create({ type: 'Worker.Died', nonRetryable: true, message: 'its process is gone' }),
    );
    return { on, run, keys, starts: () => keys.length };
  }
});
