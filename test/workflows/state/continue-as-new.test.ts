import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import { call, say } from '../../support/agent-worker.js';
import { idempotentNote } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

describe('continue-as-new', () => {
  const { worker, start } = useWorkers();

  it('a run forced through fresh histories loses no message, warns once and keeps counting turns', async () => {
    const on = await worker({
      model: (request, n) => (request.toolChoice === 'none' ? say('sum') : call(['note', { n }])),
      tools: [idempotentNote],
    });
    const run = await start(on, { maxTurns: 9, bounds: { continueAsNewEvents: 20 } });
    const executions = new Set<string>();
    await until(async () => {
      const { runId, status } = await run.handle.describe();
      executions.add(runId);
      return status.name !== 'RUNNING';
    }, 'the end');
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns: 9, toolCalls: 9, output: 'sum', finalized: true });
    expect(executions.size).toBeGreaterThan(1);
    const lengths = on.requests.map((request) => request.messages.filter((message) => message.origin !== 'nudge').length);
    expect(lengths).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    expect(on.requests.filter((request) => request.messages.some((message) => message.id === 'finalise-warning'))).toHaveLength(1);
    const events = await run.events();
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter((event) => event.type === 'run.started' || event.type === 'run.ended')).toHaveLength(2);
  });

  it('a steer and a pause that wait while a paused run goes on in a fresh history are carried over', async () => {
    const gate = latch();
    const on = await worker({
      model: (_, n) => (n === 1 ? gate.opened.then(() => call(['note', { n: 1 }], ['note', { n: 2 }])) : say('ok')),
      tools: [idempotentNote],
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    await until(() => on.requests.length === 1, 'the first request');
    const first = (await run.handle.describe()).runId;
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `s${n}`, text: `steer ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    expect(await run.progress()).toMatchObject({ status: 'paused', turn: 1, inbox: 12 });
    await run.handle.signal('steer', { id: 's3', text: 'steer 3' });
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, unconsumed: [] });
    const texts = on.requests[1]?.messages.filter((message) => message.origin === 'steer').map(textOf);
    expect(texts).toEqual(Array.from({ length: 12 }, (_, n) => `steer ${n}`));
  });
});
