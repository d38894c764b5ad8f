import { describe, it } from 'vitest';
import { z } from 'zod';
import type { HookDefinition } from '../../../src/define/define-hook.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { heldTool } from '../../support/tools/sample-tools.js';
import { latch, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { loseWorker } from './lose-worker.js';
import { historySaver } from './save-history.js';

const { save } = historySaver('0.2');

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `seen ${n} ${'and more '.repeat(200)}`,
});
const act = defineTool({
  name: 'act',
  description: 'Acts once; a person decides about large numbers.',
  parameters: z.strictObject({ n: z.number() }),
  approval: ({ n }) => n > 1,
  execute: ({ n }) => `did ${n}`,
});
const SUMMARY = '## State\nthree parts are read\n## Findings\nnone\n## Progress\nhalf\n## Remaining\nthe rest';

/** Hooks of the config at every point: those outside of calls have commands of their own. */
const HOOKS: readonly HookDefinition[] = [
  { name: 'opens', on: 'before-run', run: () => ({ action: 'allow' }) },
  { name: 'asks', on: 'before-model', run: () => ({ action: 'allow' }) },
  { name: 'doubles', on: 'before-tool', tools: ['act'], run: () => ({ action: 'modify', args: { n: 2 } }) },
  { name: 'marks', on: 'after-tool', run: ({ output = '' }) => ({ action: 'modify', output: `${output} (seen)` }) },
  { name: 'signs', on: 'after-run', run: ({ output = '' }) => ({ action: 'modify', output: `${output} Signed.` }) },
  { name: 'consoles', on: 'error', run: () => ({ action: 'modify', output: 'Something went wrong.' }) },
];

describe('record what activities decide in a run', () => {
  const { worker, start } = useWorkers();
  const begin = async (options: AgentWorkerOptions, input = {}) => {
    const on = await worker({ identity: 'recorder', tools: [look, act], policy: {}, ...options });
    return { on, run: await start(on, input) };
  };

  it('hooks at every point, and an approval that a predicate asks for', async () => {
    const { run } = await begin({
      model: (_, n) => (n === 1 ? call(['act', { n: 1 }], ['look', { n: 1 }]) : say('It is done.')),
      hooks: HOOKS,
    });
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    await run.handle.executeUpdate('approve', { args: [{ callId: (await pendingOf(run))[0]?.callId, by: 'ann' }] });
    await save('hooks', run);
  });

  it('an error that its hook rewrites', async () => {
    const { run } = await begin({
      model: () => {
        throw new ModelError('Model.Auth', 'the key was refused');
      },
      hooks: HOOKS,
    });
    await save('hook-on-error', run);
  });

  it('a hook that does not let the run begin', async () => {
    const { run } = await begin({
      model: () => say('never'),
      hooks: [{ name: 'closed', on: 'before-run', run: () => ({ action: 'block', reason: 'closed on Sundays' }) }],
    });
    await save('hook-refused', run);
  });

  it('an answer that the schema, then the gate of the agent, send back', async () => {
    const { run } = await begin(
      {
        model: (_, n) => say(n === 1 ? '{"parts": "three"}' : `{"parts": ${n}}`),
        policy: { completion: { custom: true } },
        completionGate: ({ output }) =>
          output.includes('3') ? { accept: true } : { accept: false, correction: 'There are three parts: count again.' },
      },
      { outputSchema: { type: 'object', properties: { parts: { type: 'integer' } }, required: ['parts'] } },
    );
    await save('accepted-answer', run);
  });

  it('a transcript that is summed up', async () => {
    const { run } = await begin({
      model: (request, n) => (request.tools.length === 0 ? say(SUMMARY) : n <= 8 ? call(['look', { n }]) : say('All parts are read.')),
      policy: { compaction: { strategies: ['summary'], keepRecentTokens: 500 } },
      contextWindow: 6_000,
    });
    await save('summary', run);
  });

  it('a compactor of the config that fails', async () => {
    const { run } = await begin({
      model: (_, n) => (n <= 8 ? call(['look', { n }]) : say('All parts are read.')),
      policy: { compaction: { strategies: ['custom'], keepRecentTokens: 500 } },
      compactor: () => Promise.reject(new Error('no idea')),
      contextWindow: 6_000,
    });
    await save('compactor-failed', run);
  });

  it('a call that lost its worker, and of which is found out that it was not started', async () => {
    let starts = 0;
    const held = defineTool({
      name: 'held',
      description: 'Waits the first time.',
      parameters: z.strictObject({}),
      reconcile: () => Promise.resolve({ kind: 'not_started' }),
      execute: (_, ctx) => {
        starts += 1;
        return starts === 1 ? untilAborted(ctx.signal) : 'ok';
      },
    });
    const { on, run } = await begin({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('It is done.')), tools: [held] });
    await loseWorker(on, run);
    await save('reconciled', run);
  });

  it('a message that preempts the calls which were not started', async () => {
    const gate = latch();
    const held = heldTool(gate.opened);
    const { run } = await begin({
      model: (_, n) => (n === 1 ? call(['held', {}], ['act', { n: 1 }]) : say('Understood.')),
      tools: [act, held],
    });
    await until(async () => (await run.progress()).phase === 'tools', 'the running call');
    await run.handle.signal('steer', { id: 's', text: 'stop that', mode: 'preempt' });
    gate.open();
    await save('preempted', run);
  });

  it('an approval that a message preempts, and a cancel that ends another', async () => {
    const { run } = await begin({ model: (_, n) => call(['act', { n: n + 1 }]) });
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the first approval');
    await run.handle.signal('steer', { id: 's', text: 'something else', mode: 'preempt' });
    await until(async () => (await run.progress()).turn === 2 && (await pendingOf(run)).length === 1, 'the second approval');
    await run.handle.signal('cancel', { reason: 'enough' });
    await save('cancelled-in-approval', run);
  });
});

async function pendingOf(run: { handle: { query<T>(name: string): Promise<T> } }): Promise<readonly { callId: string }[]> {
  return (await run.handle.query<{ pending: { callId: string }[] }>('approvals')).pending;
}
