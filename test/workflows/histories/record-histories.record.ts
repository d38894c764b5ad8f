import { describe, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { heldTool, look } from '../../support/tools/sample-tools.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { loseWorker } from './lose-worker.js';
import { historySaver } from './save-history.js';

const { save, write } = historySaver('0.1');

const act = defineTool({
  name: 'act',
  description: 'Acts once, until it is stopped.',
  parameters: z.strictObject({}),
  execute: (_, ctx) => untilAborted(ctx.signal),
});

describe('record', () => {
  const { worker, start } = useWorkers();
  const begin = async (options: AgentWorkerOptions, input = {}) => {
    const on = await worker({ identity: 'recorder', tools: [look, act], ...options });
    return { on, run: await start(on, input) };
  };

  it('completed after parallel reads', async () => {
    const { run } = await begin({ model: (_, n) => (n === 1 ? call(['look', { n: 1 }], ['look', { n: 2 }], ['nothing', {}]) : say('ok')) });
    await save('completed-parallel-reads', run);
  });

  it('max_turns with the warning and the final call', async () => {
    const { run } = await begin({ model: (r, n) => (r.toolChoice === 'none' ? say('sum') : call(['look', { n }])) }, { maxTurns: 4 });
    await save('max-turns', run);
  });

  it('steered in a tool', async () => {
    const gate = latch();
    const held = heldTool(gate.opened);
    const { run } = await begin({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('ok')), tools: [held] });
    await until(async () => (await run.progress()).phase === 'tools');
    await run.handle.signal('steer', { id: 's1', text: 'one' });
    await run.handle.executeUpdate('submit', { args: [{ id: 's2', text: 'two' }] });
    gate.open();
    await save('steered', run);
  });

  it('cancelled in a model call', async () => {
    const { on, run } = await begin({ model: (r) => untilAborted(r.signal) });
    await until(() => on.requests.length === 1);
    await run.handle.signal('cancel', { reason: 'enough' });
    await save('cancelled-in-model', run);
  });

  it('cancelled in a tool by Temporal', async () => {
    const { run } = await begin({ model: () => call(['act', {}], ['act', {}]) });
    await until(async () => (await run.progress()).phase === 'tools');
    await run.handle.cancel();
    await save('cancelled-by-temporal', run);
  });

  it('paused, extended and resumed', async () => {
    const gate = latch();
    const { run } = await begin({ model: (_, n) => (n === 1 ? gate.opened.then(() => call(['look', { n: 1 }])) : say('ok')) });
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused');
    await run.handle.executeUpdate('extend', { args: [{ turns: 5 }] });
    await run.handle.signal('resume');
    await save('paused', run);
  });

  it('deadline in a tool', async () => {
    const { run } = await begin({ model: (r) => (r.toolChoice === 'none' ? say('so far') : call(['act', {}])) }, { deadlineMs: 1_500 });
    await save('deadline', run);
  });

  it('a model unreachable for a while', async () => {
    const { run } = await begin({
      model: (_, n) => {
        if (n <= 3) throw new ModelError('Model.Unreachable', 'connection refused', { retryAfterMs: 500 });
        return say('back');
      },
    });
    await save('model-unreachable', run);
  });

  it('paused and continued as new while a model is unreachable', async () => {
    let isBack = false;
    const { on, run } = await begin(
      {
        model: () => {
          if (!isBack) throw new ModelError('Model.Unreachable', 'connection refused', { retryAfterMs: 500 });
          return say('back');
        },
      },
      { bounds: { continueAsNewEvents: 60 } },
    );
    const first = (await run.handle.describe()).runId;
    await until(async () => (await run.progress()).waitingFor?.startsWith('model unreachable') === true);
    await run.handle.signal('pause');
    await until(async () => (await run.progress()).status === 'paused');
    isBack = true;
    for (let n = 0; n < 60; n += 1) await run.handle.signal('pause');
    await until(async () => (await run.handle.describe()).runId !== first);
    await write('continued-in-wait-1', await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    await run.handle.signal('resume');
    await save('continued-in-wait-2', run);
  });

  it('cancelled before it was prepared', async () => {
    const asked = latch();
    const { run } = await begin({
      model: () => say('never'),
      beforePrepare: () => {
        asked.open();
        throw new Error('not on this host');
      },
    });
    await asked.opened;
    await run.handle.signal('cancel', {});
    await save('cancelled-before-prepared', run);
  });

  it('given messages that do not pair', async () => {
    const messages = [{ id: 'a', role: 'assistant', parts: [{ type: 'tool_call', callId: 'c', name: 'look', args: {} }] }];
    const { run } = await begin({ model: () => say('ok') }, { messages });
    await save('given-messages', run);
  });

  it('a once call that lost its worker', async () => {
    const { on, run } = await begin({ model: (_, n) => (n === 1 ? call(['act', {}]) : say('ok')) });
    await loseWorker(on, run);
    await save('worker-lost-once', run);
  });

  it('an error', async () => {
    const { run } = await begin({
      model: () => {
        throw new ModelError('Model.Auth', 'the key was refused');
      },
    });
    await save('error', run);
  });

  it('continue-as-new between turns, and in a pause with half a batch done', async () => {
    const gate = latch();
    const { on, run } = await begin(
      { model: (_, n) => (n === 1 ? gate.opened.then(() => call(['look', { n: 1 }])) : say('ok')) },
      { bounds: { continueAsNewEvents: 20 } },
    );
    await until(() => on.requests.length === 1);
    const first = (await run.handle.describe()).runId;
    await run.handle.signal('pause');
    gate.open();
    await until(async () => (await run.progress()).status === 'paused');
    for (let n = 0; n < 15; n += 1) await run.handle.signal('steer', { id: `s${n}`, text: `steer ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first);
    await write('continued-in-pause-1', await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    await run.handle.signal('resume');
    await save('continued-in-pause-2', run);
  });
});
