import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RUN_LIMITS } from '../../../src/contracts/constants/limits.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call, say } from '../../support/agent-worker.js';
import { recorder } from '../../support/tools/recorder.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

describe('what happens to a call before it runs', () => {
  const { worker, start } = useWorkers();

  it('a call that the gate blocks does not run, and the model reads which gate and why', async () => {
    const { tools, log } = recorder();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }], ['look', { n: 2 }]) : say('ok')),
      tools,
      policy: { gate: { rules: [{ tool: 'change', decision: 'block', reason: 'the freeze is on' }] } },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(log).toEqual(['look 2']);
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['blocked by gate: the freeze is on', 'look 2']);
    const events = await run.events();
    expect(events.filter(({ type }) => type === 'tool.blocked')).toMatchObject([
      { tool: 'change', by: 'gate', reason: 'the freeze is on' },
    ]);
    expect(events.filter(({ type }) => type === 'tool.call')).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(2);
  });

  it('a gate has no say in a tool that there is not: the model reads which there are', async () => {
    const { tools } = recorder();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['nothing', {}]) : say('ok')),
      tools,
      policy: { gate: { profile: 'read-only' } },
    });
    await (await start(on)).result();
    expect(resultTexts(on.requests[1]?.messages)[0]).toMatch(/^no tool named "nothing"; available: /u);
  });

  it('an answer with more calls than one history can take runs the first of them, and says so of the others', async () => {
    const { tools, log } = recorder();
    const { callsPerAnswerMax } = RUN_LIMITS;
    const calls = Array.from({ length: callsPerAnswerMax + 2 }, (_, n) => ['look', { n }] as const);
    const on = await worker({ model: (_, n) => (n === 1 ? call(...calls) : say('ok')), tools, policy: { readToolsParallelMax: 16 } });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: callsPerAnswerMax });
    expect(log).toHaveLength(callsPerAnswerMax);
    const texts = resultTexts(on.requests[1]?.messages);
    expect(texts[callsPerAnswerMax - 1]).toBe(`look ${callsPerAnswerMax - 1}`);
    expect(texts.slice(callsPerAnswerMax)).toEqual(Array(2).fill(expect.stringMatching(/^blocked by the run: .*at most 128 calls/u)));
  });

  it('28: what a pure tool answered is not asked again, until a call that may have changed the world', async () => {
    const { tools, log } = recorder();
    const turns = [
      call(['know', { n: 1 }]),
      call(['know', { n: 1 }], ['know', { n: 2 }]),
      call(['change', { n: 3 }], ['know', { n: 1 }]),
      call(['know', { n: 1 }]),
    ];
    const on = await worker({ model: (_, n) => turns[n - 1] ?? say('ok'), tools, policy: { memo: true } });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 4 });
    expect(log).toEqual(['know 1', 'know 2', 'change 3', 'know 1']);
    expect(resultTexts(on.requests[4]?.messages)).toEqual(['know 1', 'know 1', 'know 2', 'change 3', 'know 1', 'know 1']);
    expect((await run.events()).filter(({ type }) => type === 'tool.remembered')).toMatchObject([
      { turn: 2, tool: 'know' },
      { turn: 4, tool: 'know' },
    ]);
  });

  it('without a policy nothing is remembered: runs of 0.1 go on as they began', async () => {
    const { tools, log } = recorder();
    const on = await worker({ model: (_, n) => (n <= 2 ? call(['know', { n: 1 }]) : say('ok')), tools });
    await (await start(on)).result();
    expect(log).toEqual(['know 1', 'know 1']);
  });

  it('C-10: a message in mode preempt skips the calls that were not started and stops none that runs', async () => {
    const { tools, log } = recorder();
    const gate = latch();
    const slow = defineTool({
      name: 'slow',
      description: 'Takes its time.',
      parameters: z.strictObject({}),
      execute: async () => {
        log.push('slow');
        await gate.opened;
        return 'slow is done';
      },
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['slow', {}], ['change', { n: 1 }], ['look', { n: 2 }]) : say('ok')),
      tools: [...tools, slow],
      policy: {},
    });
    const run = await start(on);
    await until(() => log.length === 1, 'the slow call');
    await run.handle.signal('steer', { id: 's1', text: 'stop that', mode: 'preempt' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1, unconsumed: [] });
    expect(log).toEqual(['slow']);
    expect(resultTexts(on.requests[1]?.messages)).toEqual([
      'slow is done',
      '[skipped] a new message came; not run',
      '[skipped] a new message came; not run',
    ]);
  });

  it('C-10: a message in mode preempt ends a wait for a person; the call is skipped and nobody needs to decide', async () => {
    const { tools, log } = recorder();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }]) : say('ok')),
      tools,
      policy: { gate: { profile: 'ask-before-writing' } },
    });
    const run = await start(on);
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    await run.handle.signal('steer', { id: 's1', text: 'never mind', mode: 'preempt' });
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    expect(log).toEqual([]);
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['[skipped] a new message came; not run']);
    expect(await run.progress()).toMatchObject({ pendingApprovals: 0 });
  });
});
