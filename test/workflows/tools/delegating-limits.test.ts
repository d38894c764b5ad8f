import { describe, expect, it } from 'vitest';
import { SUBAGENT_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { AgentDefinition } from '../../../src/define/define-agent.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { cast, castConfig, delegate, type Part, resultTexts } from '../../support/subagents/cast.js';
import { bareTool } from '../../support/tools/sample-tools.js';
import { testRun, until, useWorkers } from '../../support/use-workers.js';

const FAN_OUT = 100;
const DEPTH = 10;

describe('what a model may not do with sub-agents', { timeout: 120_000 }, () => {
  const { worker, start } = useWorkers();

  it('B50: an empty task, an unknown agent, itself and a task of 200 KB are failed results that say why, and nothing is started', async () => {
    const on = await worker({
      config: castConfig({ lead: { subagents: ['scout'] }, scout: {} }),
      model: cast({
        lead: (request, n) =>
          n === 1
            ? call(
                delegate('scout', ''),
                delegate('nobody', 'x'),
                delegate('lead', 'x'),
                delegate('scout', 'x'.repeat(200 * 1_024)),
                delegate('scout', '', { wait: false }),
                ['delegate', 'scout'],
              )
            : say(resultTexts(request).join('\n')),
      }),
    });
    const result = await (await start(on, { agent: 'lead' })).result();
    expect(result.output.split('\n')).toEqual([
      'task: a text is needed; say all that the sub-agent must know',
      'no sub-agent named "nobody"; available: scout',
      'no sub-agent named "lead"; available: scout',
      `task: 204800 characters, at most ${SUBAGENT_LIMITS.taskCharsMax}; write it to a file`,
      'task: a text is needed; say all that the sub-agent must know',
      'agent: a text is needed; available: scout',
    ]);
    expect(result.subagents).toBeUndefined();
    expect(on.requests).toHaveLength(2);
  });

  it(`U9: a model that wants ${DEPTH} levels gets ${SUBAGENT_LIMITS.depthMax}: below them the tool does not exist, and the call is a failed result`, async () => {
    const deeper: Part = (request, n) => {
      const [said] = resultTexts(request).slice(-1);
      return n <= DEPTH && said === undefined ? call(delegate('node', `level ${n}`)) : say(said ?? 'nothing');
    };
    const subagents = { agents: ['node'], allowSelf: true, depth: SUBAGENT_LIMITS.depthMax };
    const on = await worker({ config: castConfig({ node: { subagents } }), model: cast({ node: deeper }) });
    const result = await (await start(on, { agent: 'node' })).result();
    expect(result).toMatchObject({
      reason: 'completed',
      output: 'no tool named "delegate"; available: none',
      subagents: [{ agent: 'node' }],
    });
    expect(on.requests).toHaveLength(2 * (SUBAGENT_LIMITS.depthMax + 1));
    expect(AgentDefinition.safeParse({ description: 'd', prompt: 'p', subagents: { ...subagents, depth: DEPTH } }).success).toBe(false);
    expect(AgentDefinition.safeParse({ description: 'd', prompt: 'p', subagents: { ...subagents, liveMax: FAN_OUT } }).success).toBe(false);
  });

  it(`U9: of ${FAN_OUT} calls in one answer, no more than ${SUBAGENT_LIMITS.liveMax} sub-agents are open at once, and those that the budget has no share for are refused`, async () => {
    let live = 0;
    let most = 0;
    const on = await worker({
      config: castConfig({ lead: { subagents: ['scout'] }, scout: {} }),
      model: cast({
        lead: (request, n) =>
          n === 1
            ? call(...Array.from({ length: FAN_OUT }, (_, index) => delegate('scout', `${index}`)))
            : say(resultTexts(request).join('\n')),
        scout: async () => {
          live += 1;
          most = Math.max(most, live);
          await new Promise((resolve) => setImmediate(resolve));
          live -= 1;
          return say('found');
        },
      }),
    });
    const run = await start(on, { agent: 'lead', maxTokens: 15_000 });
    const { output, subagents = [] } = await run.result();
    const texts = output.split('\n');
    const refused = texts.filter((text) => text === 'not started: the rest of the budget is too small for a sub-agent');
    expect(subagents.length).toBeGreaterThan(0);
    expect(texts.filter((text) => text === 'found')).toHaveLength(subagents.length);
    expect(refused).toHaveLength(FAN_OUT - subagents.length);
    expect(most).toBeLessThanOrEqual(SUBAGENT_LIMITS.liveMax);
  });

  it('steer and approve reach a sub-agent by its id', async () => {
    const pay = bareTool('pay', () => 'paid', { approval: 'always' });
    const on = await worker({
      config: castConfig({ lead: { subagents: ['scout'] }, scout: {} }, { tools: [pay] }),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'look')) : say(resultTexts(request).join())),
        scout: (request, n) => (n === 1 ? call(['pay', {}]) : say(`${resultTexts(request).join()}; ${lastTextOf(request)}`)),
      }),
    });
    const run = await start(on, { agent: 'lead' });
    const child = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`));
    await until(async () => (await run.progress()).subagents !== undefined, 'the sub-agent');
    await until(async () => (await child.progress()).pendingApprovals === 1, 'the approval');
    await child.handle.signal('steer', { id: 'm1', text: 'and hurry' });
    const { pending } = await child.handle.query<ApprovalList>('approvals');
    await child.handle.executeUpdate('approve', { args: [{ callId: pending[0]?.callId }] });
    expect(await run.result()).toMatchObject({ output: 'paid; and hurry' });
  });
});
