import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';

/** A read tool that counts its starts; `answer` says what it finds each time. */
function lookTool(answer: (start: number, args: { q: string }) => string) {
  const seen = { starts: 0 };
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.strictObject({ q: z.string() }),
    effect: 'read',
    execute: (args) => {
      seen.starts += 1;
      return answer(seen.starts, args);
    },
  });
  return { look, seen };
}

/** A call whose arguments no repair can complete. */
const broken = (argsText: string): ReturnType<typeof call> => ({
  ...call(['look', {}]),
  parts: [{ type: 'tool_call', callId: 'x', name: 'look', args: {}, argsText }],
});

/** The same beside a call with arguments that are JSON. */
const mixed = (n: number) => ({
  ...broken(`{"q": "${n}`),
  parts: [...broken(`{"q": "${n}`).parts, ...call(['look', { q: String(n) }]).parts],
});

const final = (request: { toolChoice: string }, otherwise: ReturnType<typeof call>) =>
  request.toolChoice === 'none' ? say('what I found so far') : otherwise;

describe('the loop guard of a run', () => {
  const { worker, start } = useWorkers();

  it('L10: the same call again is nudged at 3, blocked at 4, and ends the run with loop_detected at 5 and a final answer', async () => {
    const { look, seen } = lookTool(() => 'nothing new');
    const on = await worker({ model: (request) => final(request, call(['look', { q: 'a' }])), tools: [look], policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'loop_detected', output: 'what I found so far', finalized: true, turns: 5 });
    // three ran, the fourth was blocked, the fifth not run
    expect(seen.starts).toBe(3);
    const events = (await run.events()).filter(({ type }) => type === 'loop.detected');
    expect(events).toMatchObject([
      { turn: 3, action: 'nudge' },
      { turn: 4, action: 'block' },
      { turn: 5, action: 'stop' },
    ]);
    const messages = await run.messages();
    expect(messages.filter(({ origin }) => origin === 'nudge')).toHaveLength(1);
    expect((await run.progress()).lastDecision).toContain('stop');
    expect(on.requests.at(-1)).toMatchObject({ toolChoice: 'none' });
  });

  it('A14: arguments that are no JSON, each time different, end the run at the third answer in a row, with a final answer', async () => {
    const { look, seen } = lookTool(() => 'found');
    const on = await worker({ model: (request, n) => final(request, broken(`{"q": "${n}`)), tools: [look], policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'loop_detected', output: 'what I found so far', finalized: true, turns: 3 });
    expect(seen.starts).toBe(0);
    const stopped = (await run.events()).filter(({ type }) => type === 'loop.detected');
    expect(stopped).toMatchObject([{ turn: 3, pattern: 'bad-arguments', count: 3, action: 'stop' }]);
    expect((await run.progress()).lastDecision).toContain('no JSON object in 3 answers in a row');
  });

  it('A14: a call with JSON arguments, also beside a broken one, and runs of older versions are not ended', async () => {
    const { look } = lookTool(() => 'found');
    const on = await worker({
      model: (request, n) => final(request, n === 3 ? mixed(n) : n < 6 ? broken(`{"q": "${n}`) : say('done')),
      tools: [look],
      policy: {},
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 6 });
    const older = await worker({
      model: (request, n) => final(request, n < 5 ? broken(`{"q": "${n}`) : say('done')),
      tools: [look],
      policy: { limitsBadArguments: false },
    });
    expect(await (await start(older)).result()).toMatchObject({ reason: 'completed', turns: 5 });
  });

  it('C-23: polling is fine: a result that changes ends the streak', async () => {
    const { look, seen } = lookTool((n) => (n < 9 ? `${n * 10} % done` : 'done'));
    const on = await worker({
      model: (request, n) => (n <= 9 ? call(['look', { q: 'job' }]) : say(`the job is done after ${request.messages.length} messages`)),
      tools: [look],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(seen.starts).toBe(9);
    expect((await run.events()).filter(({ type }) => type === 'loop.detected')).toEqual([]);
  });

  it('C-23: other times and ids in the result, and other order of keys in the arguments, are no progress', async () => {
    const seen = { starts: 0 };
    const job = defineTool({
      name: 'job',
      description: 'Tells of a job.',
      parameters: z.strictObject({ name: z.string(), deep: z.boolean() }),
      effect: 'read',
      execute: () => {
        seen.starts += 1;
        return { state: 'queued', requestId: randomUUID(), durationMs: seen.starts * 7, at: new Date(1.7e12 + seen.starts).toISOString() };
      },
    });
    const on = await worker({
      model: (request, n) => final(request, call(['job', n % 2 === 0 ? { name: 'build', deep: true } : { deep: true, name: 'build' }])),
      tools: [job],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'loop_detected', turns: 5 });
    expect(seen.starts).toBe(3);
  });

  it('A-18: two calls taking turns (A B A B A B) are noticed', async () => {
    const { look } = lookTool((_, { q }) => `always the same about ${q}`);
    const on = await worker({
      model: (request, n) => final(request, call(['look', { q: n % 2 === 0 ? 'a' : 'b' }])),
      tools: [look],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'loop_detected' });
    expect((await run.events()).find(({ type }) => type === 'loop.detected')).toMatchObject({ turn: 6, action: 'nudge' });
  });

  it('A-18: at most two different turns among the last eight are noticed, whatever their order', async () => {
    const { look } = lookTool((_, { q }) => `always the same about ${q}`);
    const order = 'abbaabab';
    const on = await worker({
      model: (request, n) => final(request, call(['look', { q: order[(n - 1) % order.length] }])),
      tools: [look],
      policy: {},
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'loop_detected', finalized: true, turns: 10 });
    expect((await run.events()).filter(({ type }) => type === 'loop.detected')).toMatchObject([
      { turn: 8, action: 'nudge' },
      { turn: 10, action: 'stop' },
    ]);
  });

  it('contradiction 3: results that differ in times and ids alone are the same result, and a loop', async () => {
    const volatile = lookTool((n) => `took ${n * 7} ms, request 3f2b${n}c1e-9a0d-4c1e-8f00-0123456789ab`);
    const on = await worker({ model: (request) => final(request, call(['look', { q: 'a' }])), tools: [volatile.look], policy: {} });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'loop_detected', turns: 5 });
  });

  it('onLoop error: three equal turns fail the run, as one of the reference runners does', async () => {
    const { look } = lookTool(() => 'same');
    const on = await worker({ model: () => call(['look', { q: 'a' }]), tools: [look], policy: { loop: { onLoop: 'error' } } });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Run.LoopDetected' } });
  });

  it('onLoop off: nothing is noticed, and only the turn cap ends it', async () => {
    const { look, seen } = lookTool(() => 'same');
    const on = await worker({
      model: (request) => final(request, call(['look', { q: 'a' }])),
      tools: [look],
      policy: { loop: { onLoop: 'off' }, memo: false },
    });
    const run = await start(on, { maxTurns: 7 });
    expect(await run.result()).toMatchObject({ reason: 'max_turns', turns: 7 });
    expect(seen.starts).toBe(7);
  });

  it('the memory of the guard goes over continue-as-new', async () => {
    const { look, seen } = lookTool(() => 'same');
    const on = await worker({
      model: (request) => final(request, call(['look', { q: 'a' }])),
      tools: [look],
      policy: {},
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    expect(await run.result()).toMatchObject({ reason: 'loop_detected', turns: 5 });
    expect(seen.starts).toBe(3);
    expect((await run.events()).filter(({ type }) => type === 'continued').length).toBeGreaterThanOrEqual(1);
  });

  it('the nudge is read by the next request', async () => {
    const { look } = lookTool(() => 'same');
    const on = await worker({
      model: (request, n) => (n <= 3 ? call(['look', { q: 'a' }]) : say(`told: ${lastTextOf(request)}`)),
      tools: [look],
      policy: {},
    });
    const result = await (await start(on)).result();
    expect(result).toMatchObject({ reason: 'completed', output: expect.stringMatching(/look/u) });
  });
});
