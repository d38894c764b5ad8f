import { describe, expect, inject, it } from 'vitest';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call, say } from '../../support/agent-worker.js';
import { replayHistory } from '../../support/test-worker.js';
import { recorder } from '../../support/tools/recorder.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';

type Calls = readonly (readonly [string, unknown])[];

describe('tool sleep', () => {
  const { worker, start } = useWorkers();

  /** A run whose model makes these calls; a function makes them when the model is asked. */
  async function sleeping(given: Calls | (() => Calls), turns = 1) {
    const { tools, log } = recorder();
    const calls = typeof given === 'function' ? given : () => given;
    const on = await worker({
      model: (_, n) => (n <= turns ? call(...calls()) : say('ok')),
      config: {
        model: 'fake/model',
        providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
        tools: [...tools],
        agents: { sleeper: { description: 'Sleeps.', prompt: 'sleep', tools: ['sleep', 'look', 'change'] } },
      },
    });
    return { on, log, run: async (input: object = {}) => await start(on, { agent: 'sleeper', ...input }) };
  }

  it('waits for the time, in view of everybody, and the calls behind it wait too', async () => {
    const {
      on,
      log,
      run: begin,
    } = await sleeping([
      ['look', { n: 1 }],
      // long enough for a query on a busy machine
      ['sleep', { seconds: 10 }],
      ['look', { n: 2 }],
    ]);
    const run = await begin();
    await until(async () => (await run.progress()).waitingFor?.startsWith('sleep until 20') === true, 'the wait');
    expect(await run.progress()).toMatchObject({ status: 'waiting', tool: 'sleep', pendingApprovals: 0 });
    expect(log).toEqual(['look 1']);
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 3 });
    expect(log).toEqual(['look 1', 'look 2']);
    expect(resultTexts(on.requests[1]?.messages)[1]).toMatch(/^slept 1\ds; it is 20.+Z$/u);
    await replays(run);
  });

  it('until a time: one with a zone, not in the past, and no further than a week', async () => {
    const { on, run: begin } = await sleeping(() => [
      // not in the past when the call is made
      ['sleep', { until: new Date(Date.now() + 3_500).toISOString() }],
      ['sleep', { until: '2001-01-01T00:00:00Z' }],
      ['sleep', { until: '2031-01-01T00:00:00' }],
      ['sleep', { until: '2999-01-01T00:00:00+01:00' }],
      ['sleep', { seconds: 0 }],
      ['sleep', { seconds: 8 * 24 * 3_600 }],
      ['sleep', { seconds: '5' }],
      ['sleep', { seconds: 1, until: '2031-01-01T00:00:00Z' }],
      ['sleep', {}],
      ['sleep', { minutes: 1 }],
    ]);
    const run = await begin();
    await run.result();
    const shown = resultTexts(on.requests[1]?.messages).map((text) => text.replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z$/gu, 'NOW'));
    expect(shown).toEqual([
      expect.stringMatching(/^slept \ds; it is NOW$/u),
      'until: this time has passed; it is NOW',
      'until: a time with its zone, such as NOW',
      'until: at most 7d from now; it is NOW',
      'seconds: a number from 1 to 604800',
      'seconds: a number from 1 to 604800',
      'seconds: a number from 1 to 604800',
      'give either seconds or until',
      'give either seconds or until',
      'minutes: unknown',
    ]);
  });

  it.each([
    ['a cancel', 'cancel', {}, /^\[cancelled\] woken after \d+s$/u, 'cancelled'],
    ['a message that skips calls', 'steer', { text: 'now', mode: 'preempt' }, /^woken after \d+s by a new message; it is /u, 'completed'],
    ['a message that interrupts', 'steer', { text: 'now', mode: 'interrupt' }, /^woken after \d+s by a new message; it is /u, 'completed'],
  ] as const)('%s ends it early', async (_, signal, input, text, reason) => {
    const { run: begin } = await sleeping([['sleep', { seconds: 3_600 }]]);
    const run = await begin();
    await until(async () => (await run.progress()).waitingFor !== undefined, 'the wait');
    await run.handle.signal(signal, input);
    expect(await run.result()).toMatchObject({ reason, toolCalls: 1 });
    expect(resultTexts(await run.messages())[0]).toMatch(text);
    const types = (await run.events()).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('tool.'))).toEqual(['tool.call', 'tool.result']);
    await replays(run);
  });

  it('the work clock runs meanwhile: the deadline ends it', async () => {
    const { run: begin } = await sleeping([['sleep', { seconds: 3_600 }]]);
    const run = await begin({ deadlineMs: 5_000 });
    expect(await run.result()).toMatchObject({ reason: 'deadline' });
    expect(resultTexts(await run.messages())[0]).toMatch(/^\[deadline reached\] woken after \d+s$/u);
    await replays(run);
  });

  it('continue-as-new carries the rest of the time, and the call is counted once', async () => {
    const { on, run: begin } = await sleeping([['sleep', { seconds: 6 }]]);
    const run = await begin({ bounds: { continueAsNewEvents: 20 } });
    await until(async () => (await run.progress()).waitingFor !== undefined, 'the wait');
    const wakesAt = (await run.progress()).waitingFor;
    await intoNextHistory(run);
    expect((await run.progress()).waitingFor).toBe(wakesAt);
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(resultTexts(on.requests[1]?.messages)[0]).toMatch(/^slept [67]s; /u);
    const types = (await run.events()).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('tool.'))).toEqual(['tool.call', 'tool.result']);
    await replays(run);
  });

  it('a cancel that meets the first task of the next history gives the call one result', async () => {
    const { run: begin } = await sleeping([['sleep', { seconds: 3_600 }]]);
    const run = await begin({ bounds: { continueAsNewEvents: 20 } });
    await until(async () => (await run.progress()).waitingFor !== undefined, 'the wait');
    await intoNextHistory(run);
    await run.handle.signal('cancel');
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    const types = (await run.events()).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('tool.'))).toEqual(['tool.call', 'tool.result']);
    await replays(run);
  });
});

async function intoNextHistory(run: TestRun): Promise<void> {
  const { runId } = await run.handle.describe();
  await until(async () => {
    await run.handle.signal('resume');
    return (await run.handle.describe()).runId !== runId;
  }, 'the next history');
}

async function replays(run: TestRun): Promise<void> {
  await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.runId);
}
