import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { cast, castConfig, delegate, type Part, resultTexts } from '../../support/subagents/cast.js';
import { latch, type TestRun, testRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

const NO_WAIT = { wait: false } as const;

const team = (lead: Partial<AgentDefinition> = {}) =>
  castConfig({ lead: { subagents: ['scout', 'writer'], ...lead }, scout: {}, writer: {} });

/** The texts that sub-agents in the background brought. */
const broughtIn = ({ messages }: Pick<ModelRequest, 'messages'>): string[] =>
  messages.filter(({ origin }) => origin === 'subagent').map(textOf);

const isLast = ({ toolChoice }: ModelRequest): boolean => toolChoice === 'none';

/** How often each thing happened to the sub-agents of a run. */
async function countsOf(run: TestRun): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { type } of await run.events()) if (type.startsWith('subagent.')) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** The names of the signals in the history of a run. */
async function signalsOf({ handle }: TestRun): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? []);
}

describe('sub-agents in the background', { timeout: 60_000 }, () => {
  const { worker, start } = useWorkers();

  it('a call with wait: false returns at once with the id; results come as messages, in the order in which sub-agents end', async () => {
    const [scout, writer] = [latch(), latch()];
    const seen: string[][] = [];
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => {
          seen.push(broughtIn(request));
          if (n === 1) return call(delegate('scout', 'look', NO_WAIT), delegate('writer', 'write', NO_WAIT));
          if (n === 2) writer.open();
          if (n === 3) scout.open();
          return say(n === 2 ? resultTexts(request).join('\n') : 'all done');
        },
        scout: async () => {
          await scout.opened;
          return say('found');
        },
        writer: async () => {
          await writer.opened;
          return say('written');
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', output: 'all done', turns: 4, toolCalls: 2 });
    expect((await run.messages()).map(textOf)).toContain(
      [
        `started sub-agent ${run.runId}/scout-1; its answer comes as a message`,
        `started sub-agent ${run.runId}/writer-1; its answer comes as a message`,
      ].join('\n'),
    );
    const writers = `[sub-agent ${run.runId}/writer-1 ended: completed]\nwritten`;
    const scouts = `[sub-agent ${run.runId}/scout-1 ended: completed]\nfound`;
    expect(seen).toEqual([[], [], [writers], [writers, scouts]]);
    expect(result.subagents?.map(({ agent }) => agent)).toEqual(['writer', 'scout']);
    expect(result.usage.inputTokens).toBe(60);
    expect(await countsOf(run)).toEqual({ 'subagent.started': 2, 'subagent.ended': 2, 'subagent.delivered': 2 });
  });

  it('B-37: a run with a final answer waits for its sub-agents, and shows that it does', async () => {
    const held = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'look', NO_WAIT)) : say(broughtIn(request).join() || 'I wait')),
        scout: async () => {
          await held.opened;
          return say('found');
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    expect(await run.progress()).toMatchObject({ waitingFor: `sub-agent ${run.runId}/scout-1`, turn: 2, subagents: [{ agent: 'scout' }] });
    held.open();
    expect(await run.result()).toMatchObject({ output: `[sub-agent ${run.runId}/scout-1 ended: completed]\nfound`, turns: 3 });
  });

  it('a message that arrives in that wait gets a turn, and the run waits again', async () => {
    const held = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'look', NO_WAIT)) : say(`answer ${n}: ${broughtIn(request).length}`)),
        scout: async () => {
          await held.opened;
          return say('found');
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    await run.handle.signal('steer', { id: 'm1', text: 'how far are you?' });
    await until(async () => (await run.progress()).turn === 3 && (await run.progress()).status === 'waiting', 'the second wait');
    held.open();
    expect(await run.result()).toMatchObject({ output: 'answer 4: 1', steers: [{ id: 'm1', state: 'delivered' }] });
  });

  it('with onEnd: stop, a final answer stops the sub-agents, and their answers so far are in the result', async () => {
    const working = latch();
    const on = await worker({
      config: team({ subagents: { agents: ['scout', 'writer'], onEnd: 'stop' } }),
      model: cast({
        lead: async (_, n) => {
          if (n === 1) return call(delegate('scout', 'look', NO_WAIT));
          await working.opened;
          return say('enough');
        },
        scout: async ({ signal }, n) => {
          if (n === 1) return { ...call(['nothing', {}]), parts: [{ type: 'text', text: 'half of it' }, ...call(['nothing', {}]).parts] };
          working.open();
          return await untilAborted(signal);
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    expect(await run.result()).toMatchObject({
      reason: 'completed',
      output: 'enough',
      turns: 2,
      subagents: [{ runId: `${run.runId}/scout-1`, reason: 'cancelled', output: 'half of it' }],
    });
    const child = on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`);
    expect(await child.result()).toMatchObject({ reason: 'cancelled' });
  });

  it('at the turn limit the run waits for its sub-agents, and the final answer reads their results', async () => {
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request) => (isLast(request) ? say(`final: ${broughtIn(request).length}`) : call(delegate('scout', 'look', NO_WAIT))),
        scout: () => say('found'),
      }),
    });
    const result = await (await start(on, { agent: 'lead', maxTurns: 1 })).result();
    expect(result).toMatchObject({ reason: 'max_turns', output: 'final: 1', finalized: true, subagents: [{ reason: 'completed' }] });
  });

  it('a cancel and the deadline of the parent stop its sub-agents in the background before it ends', async () => {
    const on = await worker({
      config: team(),
      model: cast({
        lead: (_, n) => (n % 2 === 1 ? call(delegate('scout', 'look', NO_WAIT)) : say('I wait')),
        scout: ({ signal }) => untilAborted(signal),
      }),
    });
    const cancelled = await start(on, { agent: 'lead' });
    await until(async () => (await cancelled.progress()).status === 'waiting', 'the wait');
    await cancelled.handle.signal('cancel', {});
    expect(await cancelled.result()).toMatchObject({ reason: 'cancelled', subagents: [{ reason: 'cancelled', output: '' }] });
    const late = await start(on, { agent: 'lead', deadlineMs: 5_000 });
    const { reason, subagents = [] } = await late.result();
    expect(reason).toBe('deadline');
    expect(['cancelled', 'deadline']).toContain(subagents[0]?.reason);
  });

  it('a pause and a resume of the parent reach a sub-agent in the background', async () => {
    const first = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'look', NO_WAIT)) : say('done')),
        scout: async (_, n) => {
          if (n === 1) await first.opened;
          return n === 1 ? call(['nothing', {}]) : say('found');
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    const child = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`));
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    await run.handle.signal('pause');
    await until(async () => (await signalsOf(child)).includes('pause'), 'the pause that the parent passes on');
    first.open();
    await until(async () => (await child.progress()).status === 'paused', 'the pause of the scout');
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', subagents: [{ reason: 'completed' }] });
  });

  it('a parent that continues as new before, while and after its sub-agents end is given each result once', async () => {
    const held = [latch(), latch(), latch()];
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => {
          if (n === 1) return call(...held.map((_, index) => delegate('scout', `${index}`, NO_WAIT)));
          return say(
            broughtIn(request)
              .map((text) => text.split('\n')[1])
              .join(),
          );
        },
        scout: async ({ messages }) => {
          const [task = 0] = messages.map((message) => Number(textOf(message)));
          await held[task]?.opened;
          return say(`found ${task}`);
        },
      }),
    });
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    let sent = 0;
    for (const [index, next] of held.entries()) {
      await until(async () => (await run.progress()).status === 'waiting', 'the wait');
      const { runId: before } = await run.handle.describe();
      await run.handle.signal('pause');
      for (let n = 0; n < 12; n += 1, sent += 1) await run.handle.signal('steer', { id: `m${sent}`, text: `message ${sent}` });
      await until(async () => (await run.handle.describe()).runId !== before, `history ${index + 2}`);
      await run.handle.signal('resume');
      next.open();
      await until(async () => (await countsOf(run))['subagent.delivered'] === index + 1, `result ${index}`);
    }
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', output: 'found 0,found 1,found 2' });
    expect(result.subagents).toHaveLength(3);
    // an older event is not carried
    expect(await countsOf(run)).toMatchObject({ 'subagent.ended': 3, 'subagent.delivered': 3 });
    expect((await run.events()).filter(({ type }) => type === 'continued').length).toBeGreaterThanOrEqual(3);
  });

  it('sub-agents in the background count as live ones: with all places taken, a call waits for one to end', async () => {
    const held = latch();
    const part: Part = async () => {
      await held.opened;
      return say('found');
    };
    const on = await worker({
      config: team({ subagents: { agents: ['scout', 'writer'], liveMax: 1 } }),
      model: cast({
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'look', NO_WAIT), delegate('writer', 'write')) : say('done')),
        scout: part,
        writer: () => say('written'),
      }),
    });
    const run = await start(on, { agent: 'lead' });
    await until(async () => (await run.progress()).waitingFor === 'one of 1 sub-agents to end', 'the wait for a place');
    held.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', subagents: [{ agent: 'scout' }, { agent: 'writer' }] });
  });

  it('a budget that sub-agents in the background hold is waited for, and what they leave is spent then', async () => {
    const held = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => {
          if (n <= 3) return call(delegate('scout', 'look', NO_WAIT));
          held.open();
          return say(`done after ${broughtIn(request).length}`);
        },
        scout: async () => {
          await held.opened;
          return say('found');
        },
      }),
    });
    const run = await start(on, { agent: 'lead', maxTokens: 20_000 });
    await until(async () => (await run.progress()).turn >= 2, 'the second turn');
    held.open();
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed' });
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThanOrEqual(20_000);
  });
});
