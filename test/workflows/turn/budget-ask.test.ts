import { WorkflowUpdateFailedError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import { call, say } from '../../support/agent-worker.js';
import { look } from '../../support/tools/sample-tools.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';

const USAGE = { inputTokens: 4_000, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe('a run that asks when its budget is spent', () => {
  const { worker, start } = useWorkers();

  /** Spends its tokens in two turns, and says it is done once `turns` were taken. */
  async function spender(turns: number, input: object = {}) {
    const on = await worker({
      model: (request, n) =>
        request.toolChoice === 'none' ? say('sum') : { ...(n <= turns ? call(['look', { n }]) : say('all done')), usage: USAGE },
      tools: [look],
      policy: { onBudget: 'ask' },
    });
    const run = await start(on, { maxTokens: 10_000, ...input });
    await until(async () => (await run.progress()).waitingFor?.includes('10000 tokens') ?? false, 'the question');
    return run;
  }

  it('B7: cannot be approved, only be given more or be denied', async () => {
    const run = await spender(9);
    expect(await refusal(run, 'approve', { callId: 'budget', by: 'ada' })).toBe(
      'BAD_ANSWER: a budget request cannot be approved. Extend the budget, or deny the request.',
    );
    expect((await run.handle.query<ApprovalList>('approvals')).pending).toMatchObject([{ callId: 'budget', askedBy: 'budget' }]);
    await run.handle.executeUpdate('deny', { args: [{ callId: 'budget', by: 'ada' }] });
    expect(await run.result()).toMatchObject({ reason: 'budget', output: 'sum', finalized: true });
  });

  it('goes on waiting when it is given more of something else, and goes on when it has enough', async () => {
    const run = await spender(2);
    await run.handle.executeUpdate('extend', { args: [{ turns: 5 }] });
    expect(await run.progress()).toMatchObject({ status: 'waiting', pendingApprovals: 1 });
    await run.handle.executeUpdate('extend', { args: [{ tokens: 50_000 }] });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'all done' });
    expect((await run.events()).filter(({ type }) => type === 'approval.decided')).toMatchObject([{ decision: 'approved', by: 'extend' }]);
  });

  it('asks again when what it was given is spent too', async () => {
    const run = await spender(9);
    await run.handle.executeUpdate('extend', { args: [{ tokens: 4_500 }] });
    await until(async () => (await run.progress()).waitingFor?.includes('14500 tokens') ?? false, 'the second question');
    await run.handle.executeUpdate('deny', { args: [{ callId: 'budget', by: 'ada' }] });
    expect(await run.result()).toMatchObject({ reason: 'budget' });
    expect(await run.handle.query<ApprovalList>('approvals')).toMatchObject({ pending: [], decided: [{ decision: 'denied', by: 'ada' }] });
  });

  it('C3: ends at once when it is cancelled', async () => {
    const run = await spender(9);
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect((await run.handle.query<ApprovalList>('approvals')).decided).toMatchObject([{ decision: 'cancelled' }]);
  });

  it('still waits in a fresh history, and is not asked about twice', async () => {
    const run = await spender(2, { bounds: { continueAsNewEvents: 25 } });
    const first = (await run.handle.describe()).runId;
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { text: `steer ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the fresh history');
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the question');
    await run.handle.executeUpdate('extend', { args: [{ tokens: 50_000 }] });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await run.events()).filter(({ type }) => type === 'approval.asked')).toHaveLength(1);
  });
});

async function refusal(run: TestRun, update: string, input: object): Promise<string | undefined> {
  const error: unknown = await run.handle.executeUpdate(update, { args: [input] }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof WorkflowUpdateFailedError ? error.cause?.message : undefined;
}
