import { describe, it } from 'vitest';
import { call, say } from '../../support/agent-worker.js';
import { cast, castConfig, delegate } from '../../support/subagents/cast.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save, write } = historySaver('0.5');

const config = castConfig({
  lead: { subagents: ['scout'], handoffs: ['writer'] },
  stopper: { subagents: { agents: ['scout'], onEnd: 'stop' } },
  scout: {},
  writer: { model: 'fake/other' },
});

const NO_WAIT = { wait: false } as const;

describe('record sub-agents in the background, and handoffs', () => {
  const { worker, start } = useWorkers();

  it('two sub-agents in the background, with a pause and a continue-as-new in the wait for them', async () => {
    const held = latch();
    const on = await worker({
      identity: 'recorder',
      config,
      model: cast({
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'a', NO_WAIT), delegate('scout', 'b', NO_WAIT)) : say('so far')),
        scout: async () => {
          await held.opened;
          return say('seen');
        },
      }),
    });
    const run = await start(on, { agent: 'lead', maxTokens: 100_000, bounds: { continueAsNewSignals: 10 } });
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    const { runId: first } = await run.handle.describe();
    await run.handle.signal('pause');
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the next history');
    await run.handle.signal('resume');
    await until(async () => (await run.progress()).turn === 3, 'the turn of the messages');
    held.open();
    await run.result();
    await write('background-1', await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    await write('background-2', await run.handle.fetchHistory());
  });

  it('a final answer that stops a sub-agent in the background, and a cancel in the wait for one', async () => {
    const working = latch();
    const on = await worker({
      identity: 'recorder',
      config,
      model: cast({
        stopper: async (_, n) => {
          if (n > 1) await working.opened;
          return n === 1 ? call(delegate('scout', 'a', NO_WAIT)) : say('enough');
        },
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'a', NO_WAIT)) : say('so far')),
        scout: ({ signal }) => {
          working.open();
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
          });
        },
      }),
    });
    await save('background-stopped', await start(on, { agent: 'stopper' }));
    const cancelled = await start(on, { agent: 'lead' });
    await until(async () => (await cancelled.progress()).status === 'waiting', 'the wait');
    await cancelled.handle.signal('cancel');
    await save('background-cancelled', cancelled);
  });

  it('a handoff, and a continue-as-new right after one', async () => {
    const on = await worker({
      identity: 'recorder',
      config,
      model: cast({
        lead: () => call(['nothing', {}], ['handoff', { agent: 'writer' }]),
        writer: (_, n) => (n % 2 === 1 ? call(['nothing', {}]) : say('done')),
      }),
    });
    await save('handoff', await start(on, { agent: 'lead' }));
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewEvents: 20 } });
    const { runId: first } = await run.handle.describe();
    await run.result();
    await write('handoff-continued-1', await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    await write('handoff-continued-2', await run.handle.fetchHistory());
  });
});
