import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import { defineHook } from '../../../src/define/define-hook.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, say } from '../../support/agent-worker.js';
import { agentOf, cast, castConfig, type Part, resultTexts } from '../../support/subagents/cast.js';
import { bareTool, look } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

const pay = bareTool('pay', () => 'paid');

/** A desk that hands over to billing, which may hand back. */
const desk = (more: Partial<Record<'desk' | 'billing', Partial<AgentDefinition>>> = {}, tools = [look, pay]) =>
  castConfig(
    {
      desk: { handoffs: ['billing'], tools: ['look'], ...more.desk },
      billing: { handoffs: ['desk'], model: 'fake/other', ...more.billing },
      stranger: {},
    },
    { tools },
  );

const to = (agent: string, more: object = {}) => ['handoff', { agent, ...more }] as const;

/** Hands over until that is refused. */
const pingPong =
  (other: string): Part =>
  (request) =>
    resultTexts(request).some((text) => text.startsWith('not handed over'))
      ? say('I do it')
      : call(to(other, { note: `${request.messages.length}` }));

describe('handoff', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  it('from the next turn on the run is the other agent: its prompt, tools and model, with the whole conversation', async () => {
    const on = await worker({
      config: desk(),
      model: cast({
        desk: () => call(['look', { n: 1 }], to('billing', { note: 'the invoice' })),
        billing: (request) => say(`${request.messages.length} messages; ${resultTexts(request).join('; ')}`),
      }),
    });
    const run = await start(on, { agent: 'desk' });
    const result = await run.result();
    expect(result).toMatchObject({
      reason: 'completed',
      output: '4 messages; seen 1; You are agent billing now. Agent desk handed this conversation to you: continue it from here.',
      turns: 2,
      toolCalls: 2,
      agents: ['desk', 'billing'],
      models: ['fake/model', 'fake/other'],
      switches: [{ turn: 1, from: 'fake/model', to: 'fake/other', why: 'handoff' }],
    });
    expect(on.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['look', 'handoff'],
      ['look', 'pay', 'handoff'],
    ]);
    expect((await run.events()).filter(({ type }) => type === 'handoff')).toMatchObject([{ turn: 1, from: 'desk', to: 'billing' }]);
    expect(await run.progress()).toMatchObject({ agent: 'billing', agents: ['desk', 'billing'] });
    const details = await run.handle.query<string>('__temporal_workflow_metadata').then((metadata) => JSON.stringify(metadata));
    expect(details).toContain('desk → billing');
    const { searchAttributes } = await run.handle.describe();
    expect(searchAttributes['AgentName']).toEqual(['billing']);
  });

  it('the transcript goes along by reference: what was said before is not sent to an activity again', async () => {
    const long = 'x'.repeat(30_000);
    const on = await worker({
      config: desk({}, [defineTool({ ...look, execute: () => long }), pay]),
      model: cast({ desk: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : call(to('billing'))), billing: () => say('done') }),
    });
    const run = await start(on, { agent: 'desk', task: 'y'.repeat(20_000) });
    await run.result();
    const { events } = await run.handle.fetchHistory();
    const scheduled = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity ?? []);
    const bytes = scheduled.map((activity) => (activity.input?.payloads?.[0]?.data ?? []).length);
    const names = scheduled.map(({ activityType }) => activityType?.name);
    expect(names).toEqual(['prepareRun', 'callModel', 'callTool', 'callModel', 'prepareRun', 'callModel']);
    expect(bytes.at(4)).toBeLessThan(6_000);
    expect(bytes.at(5)).toBeLessThan(2_000);
  });

  it('an agent that is unknown or not listed, and a wrong argument, are one failed result each, and the run keeps its agent', async () => {
    const on = await worker({
      config: desk(),
      model: cast({
        desk: (request, n) =>
          n === 1 ? call(to('stranger'), to('biling'), to('desk'), to('billing', { x: 1 })) : say(resultTexts(request).join('\n')),
      }),
    });
    const result = await (await start(on, { agent: 'desk' })).result();
    expect(result.output.split('\n')).toEqual([
      'no agent named "stranger" to hand over to; available: billing',
      'no agent named "biling" to hand over to (did you mean billing?); available: billing',
      'no agent named "desk" to hand over to; available: billing',
      'x: unknown',
    ]);
    expect(result.agents).toBeUndefined();
  });

  it('one handoff of an answer counts, the first; the other calls get their results as usual', async () => {
    const on = await worker({
      config: desk({ desk: { handoffs: ['billing', 'stranger'] } }),
      model: cast({
        desk: () => call(to('billing'), ['look', { n: 1 }], to('stranger')),
        billing: (request) => say(resultTexts(request).slice(1).join('; ')),
      }),
    });
    const result = await (await start(on, { agent: 'desk' })).result();
    expect(result).toMatchObject({
      output: 'seen 1; not handed over: one handoff per answer, and an earlier call has it',
      agents: ['desk', 'billing'],
    });
  });

  it('two agents that hand a task to each other stop after 10 handoffs', async () => {
    const on = await worker({ config: desk(), model: cast({ desk: pingPong('billing'), billing: pingPong('desk') }) });
    const result = await (await start(on, { agent: 'desk', maxTurns: 50 })).result();
    expect(result).toMatchObject({ reason: 'completed', output: 'I do it' });
    expect(result.agents).toHaveLength(11);
  });

  it('limits are those of the run: turns and tokens count over all agents', async () => {
    const on = await worker({
      config: desk({ billing: { maxTurns: 50, budget: { maxTokens: 1_000_000 } } }),
      model: cast({
        desk: () => call(to('billing')),
        billing: (request) => (request.toolChoice === 'none' ? say('out of turns') : call(['look', { n: 1 }])),
      }),
    });
    const result = await (await start(on, { agent: 'desk', maxTurns: 3 })).result();
    expect(result).toMatchObject({ reason: 'max_turns', turns: 3, output: 'out of turns', usage: { inputTokens: 40 } });
  });

  it('an agent without a gate of its own has the gate of the agent that handed over, also after a second handoff and for sub-agents', async () => {
    const on = await worker({
      config: desk({ desk: { gate: 'read-only' }, billing: { handoffs: ['stranger'] } }),
      model: cast({
        desk: () => call(to('billing')),
        billing: (_, n) => (n === 1 ? call(['pay', {}]) : call(to('stranger'))),
        stranger: (request, n) =>
          n === 1
            ? call(['pay', {}])
            : say(
                resultTexts(request)
                  .filter((text) => text.includes('pay'))
                  .join('; '),
              ),
      }),
    });
    const { output } = await (await start(on, { agent: 'desk' })).result();
    // under a read-only gate the tool is not offered at all
    expect(output.split('; ')[0]).toContain('no tool named "pay"');
    expect(output).not.toContain('paid');
    expect(output.match(/no tool named "pay"/gu)).toHaveLength(2);
  });

  it('hooks are told the agent at work', async () => {
    const agents: string[] = [];
    const hook = defineHook({
      name: 'who',
      on: 'before-tool',
      run: ({ agent }) => {
        agents.push(agent);
        return { action: 'allow' };
      },
    });
    const on = await worker({
      config: { ...desk(), hooks: [hook] },
      hooks: [hook],
      model: cast({
        desk: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : call(to('billing'))),
        billing: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('done')),
      }),
    });
    await (await start(on, { agent: 'desk' })).result();
    expect(agents).toEqual(['desk', 'desk', 'billing']);
  });

  it('an agent that cannot be prepared is a failed result, and the run keeps its agent', async () => {
    const on = await worker({
      config: desk({ billing: { prompt: () => Promise.reject(new Error('no prompt today')) } }),
      model: cast({ desk: (request, n) => (n === 1 ? call(to('billing')) : say(resultTexts(request).join())) }),
    });
    const result = await (await start(on, { agent: 'desk' })).result();
    expect(result.output).toMatch(/^not handed over: .*no prompt today/u);
    expect(result.agents).toBeUndefined();
  });

  it('a worker that is lost while it prepares the other agent is replaced, and the handoff happens once', async () => {
    const preparing = latch();
    const held = latch();
    let prepared = 0;
    const options = {
      config: desk(),
      model: cast({ desk: () => call(to('billing')), billing: () => say('done') }),
      shutdownGraceMs: 0,
    };
    const on = await worker({
      ...options,
      beforePrepare: async () => {
        prepared += 1;
        if (prepared < 2) return;
        preparing.open();
        await held.opened;
      },
    });
    const run = await start(on, { agent: 'desk' });
    await preparing.opened;
    const stopping = on.shutdown();
    await worker({ ...options, taskQueue: on.taskQueue });
    held.open();
    await stopping;
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'done', agents: ['desk', 'billing'] });
    expect((await run.events()).filter(({ type }) => type === 'handoff')).toHaveLength(1);
  });

  it('a run that continues as new right after a handoff, and in the middle of its batch, continues as the other agent', async () => {
    const on = await worker({
      config: desk({ desk: { gate: { rules: [{ tool: 'look', decision: 'ask' }] } }, billing: { gate: 'all' } }),
      model: cast({
        desk: () => call(to('billing'), ['look', { n: 1 }]),
        billing: (request) => say(`${agentOf(request)}: ${resultTexts(request).length} results`),
      }),
    });
    const run = await start(on, { agent: 'desk', bounds: { continueAsNewSignals: 10 } });
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the approval');
    const { runId: first } = await run.handle.describe();
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the next history');
    const [pending] = (await run.handle.query<{ pending: { callId: string }[] }>('approvals')).pending;
    await run.handle.executeUpdate('approve', { args: [{ callId: pending?.callId }] });
    const result = await run.result();
    expect(result).toMatchObject({ output: 'billing: 2 results', agents: ['desk', 'billing'] });
    expect((await run.events()).filter(({ type }) => type === 'handoff')).toHaveLength(1);
    expect((await run.messages()).map(textOf).filter((text) => text.startsWith('message '))).toHaveLength(12);
  });

  it('continue as new after each turn: the agent, its setup and the list of agents are carried', async () => {
    const on = await worker({
      config: desk(),
      maxCachedWorkflows: 0,
      model: cast({
        desk: () => call(to('billing')),
        billing: (_, n) => (n < 4 ? call(['look', { n: 1 }]) : say('done')),
      }),
    });
    const run = await start(on, { agent: 'desk', bounds: { continueAsNewEvents: 20 } });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', agents: ['desk', 'billing'], turns: 5 });
    expect((await run.events()).some(({ type }) => type === 'continued')).toBe(true);
    expect(on.requests.slice(1).every((request) => agentOf(request) === 'billing')).toBe(true);
  });
});
