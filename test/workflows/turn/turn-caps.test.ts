import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Step } from '../../../src/contracts/schemas/step.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { look } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

describe('turn caps, first requests and last looks', () => {
  const { worker, start } = useWorkers();

  it('A-16: a run that gets on raises its cap by itself up to the hard cap, and the warning counts against that', async () => {
    const on = await worker({
      model: (request, n) => (request.toolChoice === 'none' ? say('sum') : call(['look', { n }])),
      tools: [look],
      policy: { autoExtend: { step: 3, hardCap: 8 } },
    });
    const run = await start(on, { maxTurns: 2 });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns: 8 });
    const warnings = (await run.events()).filter(({ type }) => type === 'finalise.warned');
    expect(warnings).toMatchObject([{ turn: 6, remaining: 3 }]);
  });

  it('A-16: a run that repeats itself does not raise its cap', async () => {
    const on = await worker({
      model: (request) => (request.toolChoice === 'none' ? say('sum') : call(['look', { n: 1 }])),
      tools: [look],
      policy: { autoExtend: { step: 5, hardCap: 50 } },
    });
    expect(await (await start(on, { maxTurns: 4 })).result()).toMatchObject({ reason: 'max_turns', turns: 4 });
  });

  it('D-02: onMaxTurns error fails the run at the cap, naming it; its whole conversation is kept', async () => {
    const on = await worker({ model: (_, n) => call(['look', { n }]), tools: [look], policy: { onMaxTurns: 'error' } });
    const run = await start(on, { maxTurns: 3 });
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Run.MaxTurns', message: 'exceeded maximum turns (3)' } });
    expect((await run.messages()).map(({ role }) => role)).toEqual([
      'user',
      ...Array.from({ length: 3 }, () => ['assistant', 'tool']).flat(),
    ]);
  });

  it('B-12: a message of the agent replaces the warning entirely; 0 turns it off', async () => {
    const custom = await worker({ model: (request) => say(lastTextOf(request)), policy: { finaliseMessage: 'wrap it up' } });
    expect(await (await start(custom, { maxTurns: 1 })).result()).toMatchObject({ output: 'wrap it up' });
    const off = await worker({ model: (request) => say(lastTextOf(request)), policy: { finaliseAtRemainingTurns: 0 } });
    expect(await (await start(off, { maxTurns: 1 })).result()).toMatchObject({ output: 'do it' });
  });

  it('A-21: an agent that starts with a tool sends tool choice "required" once', async () => {
    const on = await worker({
      model: (_, n) => (n < 3 ? call(['look', { n }]) : say('done')),
      tools: [look],
      policy: { firstToolChoice: 'required' },
    });
    await (await start(on)).result();
    expect(on.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'auto', 'auto']);
  });

  it('A-31: a chat takes exactly one turn, also when the model asks for tools, and the transcript stays paired', async () => {
    const on = await worker({ model: () => ({ ...call(['look', { n: 1 }]), stop: 'tool_calls' }), tools: [look], policy: {} });
    const run = await start(on, { mode: 'chat' });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 1 });
    expect(on.requests).toHaveLength(1);
    expect((await run.messages()).at(-1)).toMatchObject({ role: 'tool', parts: [{ type: 'tool_result', isError: true }] });
  });

  it('A-31: a chat is one request, also when its answer is empty or a message comes into it, which is given back', async () => {
    const gate = latch();
    const on = await worker({ model: () => gate.opened.then(() => say('')), policy: {} });
    const run = await start(on, { mode: 'chat' });
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('steer', { id: 's', text: 'and this?' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 1, emptyAnswer: true, unconsumed: [{ id: 's' }] });
    expect(on.requests).toHaveLength(1);
  });

  it('E-21, E-22: every step is readable after the end, with its times, usage and calls, and none is left running', async () => {
    const on = await worker({ model: (_, n) => (n < 3 ? call(['look', { n }]) : say('done')), tools: [look], policy: {} });
    const run = await start(on);
    await run.result();
    const steps = await run.handle.query<Step[]>('steps');
    expect(steps.map(({ index, status }) => [index, status])).toEqual([
      [0, 'success'],
      [1, 'success'],
      [2, 'success'],
    ]);
    expect(steps[0]).toMatchObject({
      agent: 'default',
      toolSignature: expect.stringContaining('look'),
      usage: { inputTokens: 10 },
      group: run.runId,
    });
    for (const step of steps) expect(step.durationMs).toBe((step.ended ?? 0) - step.started);
    expect(steps[2]).not.toHaveProperty('toolSignature');
  });

  it('B-01: the events of every run hold exactly one started and one ended, numbered from 1 without a gap', async () => {
    const on = await worker({ model: (_, n) => (n < 3 ? call(['look', { n }]) : say('done')), tools: [look], policy: {} });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    await run.result();
    const events = await run.events();
    expect(events.filter(({ type }) => type === 'run.started')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('a spent budget that asks waits, and goes on when it is extended', async () => {
    const on = await worker({
      model: (request, n) => (request.toolChoice === 'none' ? say('sum') : n < 4 ? call(['look', { n }]) : say('all done')),
      tools: [look],
      policy: { onBudget: 'ask' },
    });
    const run = await start(on, { maxTurns: 2 });
    await until(async () => (await run.progress()).status === 'waiting');
    expect(await run.progress()).toMatchObject({ pendingApprovals: 1, waitingFor: expect.stringContaining('2 turns') });
    await run.handle.executeUpdate('extend', { args: [{ turns: 5 }] });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'all done', turns: 4 });
  });

  it('a spent budget that asks and is denied ends as if it had not asked, with its final answer', async () => {
    const on = await worker({
      model: (request, n) => (request.toolChoice === 'none' ? say('sum') : call(['look', { n }])),
      tools: [look],
      policy: { onBudget: 'ask' },
    });
    const run = await start(on, { maxTurns: 2 });
    await until(async () => (await run.progress()).status === 'waiting');
    await run.handle.executeUpdate('deny', { args: [{ callId: 'budget', by: 'ann' }] });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns: 2, output: 'sum', finalized: true });
  });

  it('a deadline that asks stops the clock, and extended working time goes on', async () => {
    let isExtended = false;
    const on = await worker({
      model: (request) => (isExtended || request.toolChoice === 'none' ? say('in the end') : call(['slow', {}])),
      tools: [slow],
      policy: { onBudget: 'ask' },
    });
    // the clock starts before the first request
    const run = await start(on, { deadlineMs: 5_000 });
    await until(async () => (await run.progress()).status === 'waiting');
    isExtended = true;
    await run.handle.executeUpdate('extend', { args: [{ deadlineMs: 60_000 }] });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'in the end' });
  });
});

const slow = defineTool({
  name: 'slow',
  description: 'Waits until it is stopped.',
  parameters: z.strictObject({}),
  effect: 'read',
  execute: (_, { signal }) =>
    new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('stopped'), { once: true });
    }),
});
