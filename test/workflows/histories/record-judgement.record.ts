import { describe, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { bareTool, heldTool } from '../../support/tools/sample-tools.js';
import { latch, type TestRun, until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save, fill } = historySaver('0.2');

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  pure: true,
  execute: ({ n }) => `seen ${n} ${'and more '.repeat(n)}`,
});
const act = defineTool({
  name: 'act',
  description: 'Acts once.',
  parameters: z.strictObject({ n: z.number() }),
  execute: ({ n }) => `did ${n}`,
});
const sensor = bareTool('sensor', () => '21.5', { effect: 'read' });

function waitsFor(run: TestRun, what: string): Promise<void> {
  return until(async () => (await run.progress()).waitingFor?.includes(what) === true, `a wait for ${what}`);
}

describe('record the judgement of a run', () => {
  const { worker, start } = useWorkers();
  const begin = async (options: AgentWorkerOptions, input = {}) => {
    const on = await worker({ identity: 'recorder', tools: [look, act, sensor], policy: {}, ...options });
    return { on, run: await start(on, input) };
  };

  it('a loop to its end', async () => {
    const { run } = await begin({ model: (r) => (r.toolChoice === 'none' ? say('sum') : call(['sensor', {}])) });
    await save('loop-detected', run);
  });

  it('corrections, memory, an overflow that is compacted, an empty answer', async () => {
    const { run } = await begin({
      model: (request, n) => {
        if (n <= 6) return call(['look', { n: 2_000 + n }]);
        if (n === 7) return call(['look', { n: 2_001 }]);
        if (n === 8) throw new ModelError('Model.ContextOverflow', 'prompt is too long');
        if (n === 9) throw new ModelError('Model.BadJson', 'not JSON');
        if (n === 10) throw new ModelError('Model.ThinkingBudget', 'too much thinking');
        if (n === 11) return say('<tool_call>{"name": "look", "arguments": {"n": 1}}</tool_call>');
        return say(request.toolChoice === 'none' ? 'there' : '');
      },
      policy: { compaction: { keepRecentTokens: 1_000 } },
    });
    await save('recoveries', run);
  });

  it('an approval that is given in the next history', async () => {
    const { on, run } = await begin(
      {
        model: (_, n) => (n === 1 ? call(['look', { n: 1 }], ['act', { n: 1 }], ['act', { n: 2 }]) : say('The calls were decided.')),
        policy: { gate: { profile: 'ask-before-writing' } },
      },
      { bounds: { continueAsNewEvents: 30 } },
    );
    await waitsFor(run, 'approval');
    await fill('approval-1', on, run);
    await until(async () => (await run.progress()).pendingApprovals === 2, 'the approvals');
    const { pending } = await run.handle.query<{ pending: { callId: string }[] }>('approvals');
    await run.handle.executeUpdate('approve', { args: [{ callId: pending[0]?.callId, by: 'ann' }] });
    await run.handle.executeUpdate('deny', { args: [{ callId: pending[1]?.callId, by: 'ann', reason: 'not now' }] });
    await save('approval-2', run);
  });

  it('an approval whose time is over', async () => {
    const { run } = await begin({
      model: (_, n) => (n === 1 ? call(['act', { n: 1 }]) : say('Nobody answered.')),
      policy: { gate: { profile: 'ask-before-writing' }, approvalExpireMs: 1_000 },
    });
    await save('approval-expired', run);
  });

  it('a hold that is released in the next history', async () => {
    const gate = latch();
    const { on, run } = await begin(
      { model: (_, n) => (n === 1 ? gate.opened.then(() => call(['look', { n: 1 }])) : say('The talk is over.')) },
      { bounds: { continueAsNewEvents: 30 } },
    );
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('hold', { ttlMs: 3_600_000, by: 'ann' });
    gate.open();
    await waitsFor(run, 'release');
    await fill('hold-1', on, run);
    await run.handle.signal('release');
    await save('hold-2', run);
  });

  it('a hold that lets go by itself', async () => {
    const gate = latch();
    const { run } = await begin({ model: (_, n) => (n === 1 ? gate.opened.then(() => call(['look', { n: 1 }])) : say('Going on.')) });
    await run.handle.signal('hold', { ttlMs: 1_000 });
    gate.open();
    await save('hold-expired', run);
  });

  it('a spent budget that asks, and is extended in the next history', async () => {
    const { on, run } = await begin(
      { model: (_, n) => (n <= 2 ? call(['look', { n }]) : say('There was enough.')), policy: { onBudget: 'ask' } },
      { maxTurns: 2, bounds: { continueAsNewEvents: 40 } },
    );
    await waitsFor(run, 'increase of');
    await fill('budget-ask-1', on, run);
    await run.handle.executeUpdate('extend', { args: [{ turns: 5 }] });
    await save('budget-ask-2', run);
  });

  it('a backoff after empty streams, with a pause in it that goes over into the next history', async () => {
    let isBack = false;
    const { on, run } = await begin(
      {
        model: () => {
          if (!isBack) throw new ModelError('Model.EmptyStream', 'nothing came');
          return say('It is back.');
        },
      },
      { bounds: { continueAsNewEvents: 30 } },
    );
    await waitsFor(run, 'empty stream');
    await run.handle.signal('pause');
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    isBack = true;
    await fill('backoff-1', on, run, 'pause');
    await run.handle.signal('resume');
    await save('backoff-2', run);
  });

  it('a pause in the middle of a batch that ends in the next history', async () => {
    const gate = latch();
    const held = heldTool(gate.opened);
    const { on, run } = await begin(
      { model: (_, n) => (n === 1 ? call(['held', {}], ['act', { n: 1 }]) : say('Both are done.')), tools: [act, held] },
      { bounds: { continueAsNewEvents: 30 } },
    );
    await until(async () => (await run.progress()).phase === 'tools', 'the first call');
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    await fill('pause-1', on, run, 'pause');
    await run.handle.signal('resume');
    await save('pause-2', run);
  });

  it('a model call that a message interrupts', async () => {
    const { on, run } = await begin({
      model: (request, n) => {
        if (n > 1) return say('Understood.');
        request.onDelta({ type: 'text', text: 'a long story' });
        return new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason), { once: true });
        });
      },
    });
    await until(() => on.requests.length === 1, 'the request');
    await run.handle.signal('steer', { id: 's', text: 'shorter', mode: 'interrupt' });
    await save('interrupted', run);
  });

  it('a chat', async () => {
    const { run } = await begin({ model: () => call(['look', { n: 1 }]) }, { mode: 'chat' });
    await save('chat', run);
  });
});
