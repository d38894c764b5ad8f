import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { cast, castConfig, delegate, type Part, resultTexts } from '../../support/subagents/cast.js';
import { testRun, until, useWorkers } from '../../support/use-workers.js';

const last: Part = (request) => say(resultTexts(request).at(-1) ?? 'nothing');

/** A model whose lead delegates to a scout, which delegates to a clerk, which pays. Each answers what it was told. */
const newModel = () =>
  cast({
    lead: (request, n) => (n === 1 ? call(delegate('scout', 'go')) : last(request, n)),
    scout: (request, n) => (n === 1 ? call(delegate('clerk', 'pay')) : last(request, n)),
    clerk: (request, n) => (n === 1 ? call(['pay', {}]) : last(request, n)),
  });

describe('the gate of a lead holds two levels below it', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  async function tree(gate: AgentDefinition['gate'], scout: Partial<AgentDefinition> = {}) {
    const paid: string[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.strictObject({}),
      execute: (_, { runId }) => {
        paid.push(runId);
        return 'paid';
      },
    });
    const lead = { subagents: { agents: ['scout'], depth: 2 }, ...(gate === undefined ? {} : { gate }) };
    const config = castConfig({ lead, scout: { subagents: ['clerk'], ...scout }, clerk: {} }, { tools: [pay] });
    const on = await worker({ config, model: newModel() });
    const run = await start(on, { agent: 'lead' });
    const clerk = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1/clerk-1`));
    return { run, clerk, paid };
  }

  it('A-32: without a gate the clerk pays, so that the other cases show something', async () => {
    const { run, clerk, paid } = await tree(undefined);
    expect(await run.result()).toMatchObject({ output: 'paid' });
    expect(paid).toEqual([clerk.runId]);
  });

  it('A-32: a profile that blocks a tool blocks it for the clerk: it is not offered, and a call runs nothing', async () => {
    const { run, paid } = await tree('read-only');
    expect(await run.result()).toMatchObject({ output: expect.stringContaining('no tool named "pay"') });
    expect(paid).toEqual([]);
  });

  it('A-32: a rule that asks makes the call of the clerk wait for a person, and a denial is its result', async () => {
    const { run, clerk, paid } = await tree({ rules: [{ tool: 'pay', decision: 'ask', reason: 'money' }] });
    await until(async () => (await run.progress()).subagents !== undefined, 'the scout');
    await until(async () => (await clerk.handle.describe().catch(() => undefined)) !== undefined, 'the clerk');
    await until(async () => (await clerk.progress()).pendingApprovals === 1, 'the approval');
    const { pending } = await clerk.handle.query<ApprovalList>('approvals');
    expect(pending).toMatchObject([{ tool: 'pay' }]);
    await clerk.handle.executeUpdate('deny', { args: [{ callId: pending[0]?.callId, by: 'ann', reason: 'too much' }] });
    expect(await run.result()).toMatchObject({ output: expect.stringContaining('too much') });
    expect(paid).toEqual([]);
  });

  it('A-32: a gate that is a function is asked about the call of the clerk', async () => {
    const asked: string[] = [];
    const { run, clerk, paid } = await tree(({ runId }, { name }) => {
      asked.push(`${runId} ${name}`);
      return name === 'pay' ? { action: 'block', reason: 'not below me' } : { action: 'allow' };
    });
    expect(await run.result()).toMatchObject({ output: expect.stringContaining('not below me') });
    expect(asked).toContain(`${clerk.runId} pay`);
    expect(paid).toEqual([]);
  });

  it('A-32: a gate of the scout takes the place of the one of the lead, also for the clerk', async () => {
    const { run, paid } = await tree('read-only', { gate: { rules: [{ tool: 'pay', decision: 'block', reason: 'the scout says no' }] } });
    expect(await run.result()).toMatchObject({ output: expect.stringMatching(/the scout says no|no tool named "pay"/u) });
    expect(paid).toEqual([]);
  });
});
