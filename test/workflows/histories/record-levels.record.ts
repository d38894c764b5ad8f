import { describe, it } from 'vitest';
import { z } from 'zod';
import { CAPABILITY_LEVEL } from '../../../src/contracts/capability-level.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ModelAnswer } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { pendingApprovals } from '../../support/pending-approvals.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save, fill } = historySaver('0.4');

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  timeoutMs: 5_000,
  execute: ({ n }) => `seen ${n}`,
});

/** Longer than the turns after which a run reports its spending. */
const TURNS = 12;

describe(`record what level ${CAPABILITY_LEVEL} of the workflow code brought`, () => {
  const { worker, start } = useWorkers();

  it('reads as local activities', async () => {
    const on = await worker({
      identity: 'recorder',
      model: (_, n) => (n === 1 ? call(['look', { n: 1 }], ['look', { n: 2 }]) : say('seen')),
      tools: [look],
      policy: { localReadTools: true },
    });
    await save('local-reads', await start(on));
  });

  it('a run that reports its spending on the way', async () => {
    const on = await worker({
      identity: 'recorder',
      model: (_, n) => (n < TURNS ? call(['look', { n }]) : say('seen')),
      tools: [look],
      policy: { reportsTurns: true },
    });
    await save('reports-turns', await start(on));
  });

  it('a model that sends no JSON', async () => {
    const on = await worker({
      identity: 'recorder',
      model: (_, n) => (n <= 3 ? noJson(n) : say('I give up.')),
      tools: [look],
      policy: { limitsBadArguments: true },
    });
    await save('bad-arguments', await start(on));
  });

  it('a flood of signals to a paused run', async () => {
    const asked = latch();
    const on = await worker({
      identity: 'recorder',
      model: async (_, n) => {
        await asked.opened;
        return n === 1 ? call(['look', { n }]) : say('seen');
      },
      tools: [look],
      policy: { continuesAtFloods: true, limitsInbox: true },
    });
    const run = await start(on, { bounds: { continueAsNewSignals: 10 } });
    await until(async () => (await run.progress()).phase === 'model', 'the model call');
    await run.handle.signal('pause');
    asked.open();
    await fill('flood', on, run, 'pause');
    await run.handle.signal('resume');
    await run.result();
  });

  it('an approval and an extension that are signed, and those that are not', async () => {
    const on = await worker({
      identity: 'recorder',
      model: (_, n) => (n === 1 ? call(['look', { n }]) : say('seen')),
      tools: [look],
      policy: { gate: { rules: [{ tool: 'look', decision: 'ask' }] } },
      authenticate: ({ auth }) => Promise.resolve(auth === 'signed' ? undefined : 'UNSIGNED: it has no signature'),
    });
    const run = await start(on);
    const [{ callId } = { callId: '' }] = await pendingApprovals(run, 1);
    await run.handle.executeUpdate('approve', { args: [{ callId, by: 'eve' }] }).catch(() => undefined);
    await run.handle.executeUpdate('extend', { args: [{ turns: 1, auth: 'signed' }] });
    await run.handle.executeUpdate('approve', { args: [{ callId, by: 'ann', auth: 'signed' }] });
    await save('signed', run);
  });
});

function noJson(n: number): ModelAnswer {
  const answer = call(['look', {}]);
  const parts = answer.parts.map((part) => (part.type === 'tool_call' ? { ...part, argsText: `look at ${n}, please` } : part));
  return { ...answer, parts };
}
