import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toolCallsOf } from '../../../src/contracts/message-text.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { bareTool } from '../../support/tools/sample-tools.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';

describe('stopping a run', () => {
  const { worker, start } = useWorkers();

  it('C1: a cancel during a model call aborts it, keeps the partial text, and completes with reason cancelled', async () => {
    const on = await worker({
      model: (request) => {
        request.onDelta({ type: 'text', text: 'half a thou' });
        return untilAborted(request.signal);
      },
    });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled', turns: 1, output: 'half a thou' });
    expect((await run.messages()).at(-1)).toMatchObject({ role: 'assistant', partial: true });
    expect(on.requests).toHaveLength(1);
  });

  it('C4: a cancel during a batch runs no further call, and every call still has exactly one result', async () => {
    let starts = 0;
    const slow = bareTool('slow', (_, ctx) => {
      starts += 1;
      return untilAborted(ctx.signal);
    });
    const on = await worker({ model: () => call(['slow', {}], ['slow', {}], ['slow', {}]), tools: [slow] });
    const run = await start(on);
    await until(() => starts === 1, 'the first call');
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(starts).toBe(1);
    const messages = await run.messages();
    const calls = messages.flatMap(toolCallsOf).map((part) => part.callId);
    const results = messages.flatMap((message) => message.parts).filter((part) => part.type === 'tool_result');
    expect(results.map((part) => part.callId)).toEqual(calls);
    expect(JSON.stringify(results[0])).toContain('it may have taken partial effect');
    expect(JSON.stringify(results[1])).toContain('not started');
  });

  it('a cancel accepted before a final answer ends the run as cancelled, with that answer as its output', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => say('finished all the same')) });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('cancel', {});
    await run.progress();
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'cancelled', output: 'finished all the same', turns: 1 });
  });

  it("Temporal's own cancellation cleans up like a cancel, ends as Cancelled, and the result is still there", async () => {
    const on = await worker({ model: (request) => untilAborted(request.signal) });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.cancel();
    await expect(run.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect((await run.handle.describe()).status.name).toBe('CANCELLED');
    expect(await run.handle.query('result')).toMatchObject({ reason: 'cancelled' });
  });

  it('pause lets the running call finish and starts no further one until resume', async () => {
    const gate = latch();
    const started: string[] = [];
    const step = defineTool({
      name: 'step',
      description: 'One step.',
      parameters: z.strictObject({ name: z.string() }),
      execute: async ({ name }) => {
        started.push(name);
        await gate.opened;
        return name;
      },
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['step', { name: 'a' }], ['step', { name: 'b' }]) : say('ok')),
      tools: [step],
    });
    const run = await start(on);
    await until(() => started.length === 1, 'the first call');
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    expect(await run.progress()).toMatchObject({ waitingFor: 'resume' });
    expect(started).toEqual(['a']);
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(started).toEqual(['a', 'b']);
  });

  it('a cancel ends a paused run', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => call(['nothing', {}])) });
    const run = await start(on);
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
  });
});
