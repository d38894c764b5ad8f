import { ApplicationFailure } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call, say } from '../../support/agent-worker.js';
import { pendingApprovals } from '../../support/pending-approvals.js';
import { recorder } from '../../support/tools/recorder.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

describe('calls in which the config has a say', () => {
  const { worker, start } = useWorkers();

  it('A-23: a call that a hook blocks does not run; the result names hook and reason, the others run', async () => {
    const { tools, log } = recorder();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }], ['change', { n: 2 }]) : say('ok')),
      tools,
      hooks: [
        {
          name: 'odd',
          on: 'before-tool',
          run: ({ args }) => (JSON.stringify(args) === '{"n":1}' ? { action: 'block', reason: 'no ones' } : { action: 'allow' }),
        },
      ],
      policy: {},
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(log).toEqual(['change 2']);
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['blocked by hook odd: no ones', 'change 2']);
  });

  it('arguments that a hook wrote are what runs; the transcript keeps those of the model', async () => {
    const { tools, log } = recorder();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }]) : say('ok')),
      tools,
      hooks: [{ name: 'ten', on: 'before-tool', run: () => ({ action: 'modify', args: { n: 10 } }) }],
      policy: {},
    });
    const run = await start(on);
    await run.result();
    expect(log).toEqual(['change 10']);
    const calls = (await run.messages()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_call' ? [part.args] : [])));
    expect(calls).toEqual([{ n: 1 }]);
  });

  it('a hook cannot write what the gate would have blocked', async () => {
    const { tools, log } = recorder();
    const bash = defineTool({
      name: 'run_command',
      description: 'Runs.',
      parameters: z.strictObject({ command: z.string() }),
      execute: ({ command }) => log.push(command),
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['run_command', { command: 'ls' }]) : say('ok')),
      tools: [...tools, bash],
      hooks: [{ name: 'worse', on: 'before-tool', run: () => ({ action: 'modify', args: { command: 'rm -rf .' } }) }],
      policy: { gate: { rules: [{ tool: 'run_command', command: 'rm', decision: 'block', reason: 'no rm' }] } },
    });
    await (await start(on)).result();
    expect(log).toEqual([]);
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['blocked by gate: no rm']);
  });

  it('X16: a person is shown the arguments that a hook wrote, and those are what runs', async () => {
    const { log } = recorder();
    const deploy = defineTool({
      name: 'deploy',
      description: 'Deploys.',
      parameters: z.strictObject({ n: z.number() }),
      approval: ({ n }) => n > 5,
      execute: ({ n }) => log.push(`deploy ${n}`),
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['deploy', { n: 1 }]) : say('ok')),
      tools: [deploy],
      hooks: [{ name: 'ten', on: 'before-tool', run: () => ({ action: 'modify', args: { n: 10 } }) }],
      policy: {},
    });
    const run = await start(on);
    const [pending] = await pendingApprovals(run, 1);
    expect(pending).toMatchObject({ tool: 'deploy', args: { n: 10 }, askedBy: 'tool' });
    await run.handle.executeUpdate('approve', { args: [{ callId: pending?.callId, by: 'ada' }] });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(log).toEqual(['deploy 10']);
  });

  it('a tool that asks for some of its calls waits only with those', async () => {
    const log: string[] = [];
    const deploy = defineTool({
      name: 'deploy',
      description: 'Deploys.',
      parameters: z.strictObject({ n: z.number() }),
      approval: ({ n }) => n > 1,
      execute: ({ n }) => log.push(`deploy ${n}`),
    });
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['deploy', { n: 2 }], ['deploy', { n: 1 }], ['deploy', { n: 3 }]) : say('ok')),
      tools: [deploy],
      policy: {},
    });
    const run = await start(on);
    const [second, third] = await pendingApprovals(run, 2);
    await until(() => log.length === 1, 'the call that nobody need decide');
    await run.handle.executeUpdate('approve', { args: [{ callId: third?.callId }] });
    await until(() => log.length === 2, 'the approved call');
    expect(await run.progress()).toMatchObject({ pendingApprovals: 1 });
    await run.handle.executeUpdate('approve', { args: [{ callId: second?.callId }] });
    await run.result();
    expect(log).toEqual(['deploy 1', 'deploy 3', 'deploy 2']);
  });

  it('a check whose worker died is asked again; nothing runs before it is answered', async () => {
    const { tools, log } = recorder();
    let asked = 0;
    const gate = latch();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }]) : say('ok')),
      tools,
      hooks: [
        {
          name: 'slow',
          on: 'before-tool',
          run: async () => {
            asked += 1;
            if (asked === 1) await gate.opened;
            return { action: 'allow' };
          },
        },
      ],
      policy: {},
    });
    const run = await start(on);
    await until(() => asked === 1, 'the first question');
    const { raw, runId: executionId } = await run.handle.describe();
    const activityId = raw.pendingActivities?.find((activity) => activity.activityType?.name === 'checkTool')?.activityId ?? '';
    await on.client.activity.fail(
      { workflowId: run.runId, runId: executionId, activityId },
      ApplicationFailure.create({ type: 'Worker.Died', nonRetryable: true, message: 'its process is gone' }),
    );
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    gate.open();
    expect(asked).toBe(2);
    expect(log).toEqual(['change 1']);
    expect((await run.events()).filter(({ type }) => type === 'worker.lost')).toMatchObject([{ activity: 'checkTool', losses: 1 }]);
  });

  it('a cancel during a check ends the run; the call is not started', async () => {
    const { tools, log } = recorder();
    const asked = latch();
    const on = await worker({
      model: () => call(['change', { n: 1 }]),
      tools,
      hooks: [
        {
          name: 'slow',
          on: 'before-tool',
          run: ({ signal }) => {
            asked.open();
            return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }));
          },
        },
      ],
      policy: {},
    });
    const run = await start(on);
    await asked.opened;
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled', toolCalls: 0 });
    expect(log).toEqual([]);
    expect((await run.messages()).at(-1)?.parts[0]).toMatchObject({ isError: true, parts: [{ text: '[cancelled] not started' }] });
  });

  it('C-10: a message in mode preempt that comes while the batch is still being prepared skips every call of it', async () => {
    const { tools, log } = recorder();
    const asked = latch();
    const gate = latch();
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }], ['look', { n: 2 }]) : say('ok')),
      tools,
      hooks: [
        {
          name: 'slow',
          on: 'before-tool',
          run: async () => {
            asked.open();
            await gate.opened;
            return { action: 'allow' };
          },
        },
      ],
      policy: {},
    });
    const run = await start(on);
    await asked.opened;
    await run.handle.signal('steer', { id: 's1', text: 'stop that', mode: 'preempt' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 0, unconsumed: [] });
    expect(log).toEqual([]);
    expect(resultTexts(on.requests[1]?.messages)).toEqual([
      '[skipped] a new message came; not run',
      '[skipped] a new message came; not run',
    ]);
    const types = (await run.events()).map(({ type }) => type);
    expect(types.filter((type) => type === 'tool.call')).toHaveLength(2);
    expect(types.filter((type) => type === 'tool.result')).toHaveLength(2);
  });

  it.each(['before-tool', 'after-tool'] as const)('a hook %s that aborts ends the batch: what was not started is not', async (on) => {
    const { tools, log } = recorder();
    const worked = await worker({
      model: (_, n) => (n === 1 ? call(['change', { n: 1 }], ['change', { n: 2 }]) : say('ok')),
      tools,
      hooks: [
        {
          name: 'alarm',
          on,
          run: ({ args }) => (JSON.stringify(args) === '{"n":1}' ? { action: 'abort', reason: 'smoke' } : { action: 'allow' }),
        },
      ],
      policy: {},
    });
    const run = await start(worked);
    await Promise.allSettled([run.result()]);
    expect(log).toEqual(on === 'before-tool' ? [] : ['change 1']);
    const results = (await run.messages()).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part] : [])));
    expect(results).toHaveLength(2);
    expect(results[1]).toMatchObject({ isError: true, parts: [{ text: expect.stringMatching(/^\[ended by hook.*\] not started$/u) }] });
  });

  it('every call of a mixed batch has exactly one result, in call order, whatever was decided of it', async () => {
    const { tools, log } = recorder();
    const calls = [
      ['change', { n: 1 }],
      ['nothing', {}],
      ['look', { n: 2 }],
      ['change', { n: 3 }],
      ['change', { n: 4 }],
      ['look', { n: 5 }],
      ['change', { m: 6 }],
      ['look', { n: 7 }],
    ] as const;
    const on = await worker({
      model: (_, n) => (n === 1 ? call(...calls) : say('ok')),
      tools,
      hooks: [
        {
          name: 'five',
          on: 'before-tool',
          run: ({ args }) => (JSON.stringify(args) === '{"n":5}' ? { action: 'block', reason: 'no fives' } : { action: 'allow' }),
        },
      ],
      policy: { gate: { profile: 'ask-before-writing' } },
    });
    const run = await start(on);
    const [first, third, fourth] = await pendingApprovals(run, 3);
    await run.handle.executeUpdate('deny', { args: [{ callId: third?.callId, by: 'ada' }] });
    await run.handle.executeUpdate('approve', { args: [{ callId: fourth?.callId }] });
    await until(() => log.length === 3, 'the call that was approved first');
    await run.handle.executeUpdate('approve', { args: [{ callId: first?.callId }] });
    await run.result();
    expect(log).toEqual(['look 2', 'look 7', 'change 4', 'change 1']);
    expect(resultTexts(on.requests[1]?.messages)).toEqual([
      'change 1',
      expect.stringMatching(/^no tool named "nothing"/u),
      'look 2',
      'denied by ada',
      'change 4',
      'blocked by hook five: no fives',
      expect.stringMatching(/^blocked by tool: invalid arguments/u),
      'look 7',
    ]);
  });

  it('what was decided of a call is kept in a fresh history: no hook is asked twice', async () => {
    const { tools, log } = recorder();
    let asked = 0;
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['look', { n: 1 }], ['change', { n: 2 }]) : say('ok')),
      tools,
      hooks: [
        {
          name: 'counts',
          on: 'before-tool',
          run: () => {
            asked += 1;
            return { action: 'allow' };
          },
        },
      ],
      policy: { gate: { profile: 'ask-before-writing' } },
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    const first = (await run.handle.describe()).runId;
    await pendingApprovals(run, 1);
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `s${n}`, text: `steer ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    const [pending] = await pendingApprovals(run, 1);
    await run.handle.executeUpdate('approve', { args: [{ callId: pending?.callId }] });
    await run.result();
    expect(asked).toBe(2);
    expect(log).toEqual(['look 1', 'change 2']);
  });
});
