import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Message } from '../../src/contracts/message.js';
import { textOf } from '../../src/contracts/message.js';
import type { Receipt } from '../../src/contracts/run.js';
import { defineTool } from '../../src/define/define-tool.js';
import { call, say } from '../support/agent-worker.js';
import { latch, until, useWorkers } from '../support/use-workers.js';

describe('steering a run', () => {
  const { worker, start } = useWorkers();

  it('B-28: steers sent while a tool runs are in the next request, after the tool result, in the order sent', async () => {
    const gate = latch();
    const tool = held(gate.opened);
    const on = await worker({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('ok')), tools: [tool] });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    await run.handle.signal('steer', { id: 'one', text: 'first' });
    await run.handle.signal('steer', { id: 'two', text: 'second' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    expect(roles(on.requests[1]?.messages ?? [])).toEqual(['user:do it', 'assistant:', 'tool:', 'user:first', 'user:second']);
  });

  it('the same id twice is one message, and the receipt says so', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('ok')), tools: [held(gate.opened)] });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    const first = await run.handle.executeUpdate<Receipt, [object]>('submit', { args: [{ id: 'same', text: 'once' }] });
    const second = await run.handle.executeUpdate<Receipt, [object]>('submit', { args: [{ id: 'same', text: 'once' }] });
    expect(first).toEqual({ id: 'same', accepted: true, position: 0, duplicate: false });
    expect(second).toMatchObject({ accepted: true, duplicate: true });
    gate.open();
    await run.result();
    expect(roles(on.requests[1]?.messages ?? []).filter((text) => text === 'user:once')).toHaveLength(1);
  });

  it('U2: a steer that arrives with the final answer causes one more turn', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => say('early')) : say('late')) });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 's', text: 'wait' });
    gate.open();
    expect(await run.result()).toMatchObject({ output: 'late', turns: 2, unconsumed: [] });
  });

  it('a steer that comes during the reserved final call comes back unconsumed', async () => {
    const gate = latch();
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? gate.opened.then(() => say('end')) : call(['nothing', {}])),
    });
    const run = await start(on, { maxTurns: 1 });
    await until(async () => (await run.progress()).phase === 'finalising' && on.requests.length === 2, 'the final call');
    await run.handle.signal('steer', { id: 'late', text: 'too late' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'max_turns', unconsumed: [{ id: 'late', text: 'too late' }] });
  });

  it('an update without text is refused and leaves no trace in history', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => say('ok')) });
    const run = await start(on);
    await expect(run.handle.executeUpdate('submit', { args: [{ text: '  ' }] })).rejects.toMatchObject({
      cause: { type: 'Input.Invalid' },
    });
    gate.open();
    expect(await run.result()).toMatchObject({ turns: 1 });
    const { events } = await run.handle.fetchHistory();
    expect(events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(false);
  });
});

function held(opened: Promise<void>) {
  return defineTool({ name: 'held', description: 'Waits.', parameters: z.strictObject({}), execute: () => opened.then(() => 'released') });
}

function roles(messages: readonly Message[]): string[] {
  return messages.map((message) => `${message.role}:${message.role === 'user' ? textOf(message) : ''}`);
}
