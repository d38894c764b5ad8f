import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import type { StreamSink } from '../../../src/streams/stream.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, type TestRun, testRun, until, useWorkers } from '../../support/use-workers.js';

const agent = (prompt: string, more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  description: `The ${prompt}.`,
  prompt,
  ...more,
});

/** A lead that may delegate to a scout and a writer. */
const team = (more: Partial<Record<'lead' | 'scout' | 'writer', Partial<AgentDefinition>>> = {}): Config => ({
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: {
    lead: agent('lead', { subagents: ['scout', 'writer'], ...more.lead }),
    scout: agent('scout', more.scout),
    writer: agent('writer', more.writer),
  },
});

/** Agents that may delegate to each other, with a depth. */
const chain = (depth: number): Config =>
  team({ lead: { subagents: { agents: ['scout'], depth } }, scout: { subagents: ['writer'] }, writer: { subagents: ['scout'] } });

const delegate = (name: string, task: string) => ['delegate', { agent: name, task }] as const;

const agentOf = ({ prompt }: ModelRequest): string => prompt.split('\n')[0] ?? '';

/** Each agent answers by its own function of its requests. */
function cast(agents: Readonly<Record<string, (request: ModelRequest, n: number) => ModelAnswer | Promise<ModelAnswer>>>) {
  const counts = new Map<string, number>();
  return (request: ModelRequest): ModelAnswer | Promise<ModelAnswer> => {
    const name = agentOf(request);
    const n = (counts.get(name) ?? 0) + 1;
    counts.set(name, n);
    return agents[name]?.(request, n) ?? say(`no part for ${name}`);
  };
}

const resultTexts = ({ messages }: ModelRequest): string[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_result' ? part.parts.map((text) => ('text' in text ? text.text : '')) : [])),
  );

/** The names of the signals in the history of a run. */
async function signalsOf({ handle }: TestRun): Promise<string[]> {
  const { events = [] } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? []);
}

describe('sub-agents', () => {
  const { worker, start } = useWorkers();

  it('A-32, B-37: a call of delegate is a child run with its own transcript, whose events name the call, and whose answer is the result of the call', async () => {
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'find it')) : say(`scout said: ${resultTexts(request).join()}`)),
        scout: () => say('it is here'),
      }),
    });
    const run = await start(on, { agent: 'lead' });
    const result = await run.result();
    expect(result).toMatchObject({
      reason: 'completed',
      output: 'scout said: it is here',
      toolCalls: 1,
      usage: { inputTokens: 30, outputTokens: 15 },
    });
    expect(result.subagents).toEqual([expect.objectContaining({ runId: `${run.runId}/scout-1`, agent: 'scout', reason: 'completed' })]);
    const child = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`));
    expect((await child.messages()).map(textOf)).toEqual(['find it', 'it is here']);
    expect(on.requests[1]?.prompt).toContain('Agent lead gave you this task.');
    expect((await child.events())[0]).toMatchObject({
      type: 'run.started',
      agent: 'scout',
      parent: { runId: run.runId, callId: expect.any(String) },
    });
    expect((await run.events()).filter(({ type }) => type.startsWith('subagent.'))).toMatchObject([
      { type: 'subagent.started', runId: `${run.runId}/scout-1`, agent: 'scout' },
      { type: 'subagent.ended', runId: `${run.runId}/scout-1`, reason: 'completed' },
    ]);
  });

  it('A-32: a sub-agent has the model and the project of the start of its parent', async () => {
    const on = await worker({
      config: team(),
      model: cast({ lead: (_, n) => (n === 1 ? call(delegate('scout', 'find it')) : say('done')), scout: () => say('found') }),
    });
    const result = await (await start(on, { agent: 'lead', model: 'fake/asked', context: { projectPath: 'shop' } })).result();
    expect(on.requests[1]?.prompt).toContain('Project: shop');
    const child = await on.client.workflow.getHandle(result.subagents?.[0]?.runId ?? '').result();
    expect(child).toMatchObject({ models: ['fake/asked'] });
  });

  it('A-32: a sub-agent streams where its parent does, under its own run', async () => {
    const streamed = new Map<string, string>();
    const streams: StreamSink = {
      publish: (event) => {
        if (event.type === 'text') streamed.set(event.runId, (streamed.get(event.runId) ?? '') + event.text);
      },
      flush: () => Promise.resolve(),
    };
    const model = cast({ lead: (_, n) => (n === 1 ? call(delegate('scout', 'find it')) : say('done')), scout: () => say('found') });
    const on = await worker({
      config: team(),
      streams,
      model: async (request) => {
        const answer = await model(request);
        for (const part of answer.parts) if (part.type === 'text') request.onDelta({ type: 'text', text: part.text });
        return answer;
      },
    });
    const run = await start(on, { agent: 'lead' });
    const { subagents: [scout] = [] } = await run.result();
    expect([...streamed]).toEqual([
      [scout?.runId, 'found'],
      [run.runId, 'done'],
    ]);
  });

  it('several calls of one answer run at the same time, and their results keep the order of the calls', async () => {
    const both = latch();
    const seen: string[] = [];
    const part = (name: string) => async () => {
      seen.push(name);
      if (seen.length === 2) both.open();
      await both.opened;
      return say(`${name} is done`);
    };
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'a'), delegate('writer', 'b')) : say(resultTexts(request).join(', '))),
        scout: part('scout'),
        writer: part('writer'),
      }),
    });
    expect(await (await start(on, { agent: 'lead' })).result()).toMatchObject({ output: 'scout is done, writer is done' });
  });

  it('A-32: an agent that is not on the list, an empty task and another field are failed results, and nothing is started', async () => {
    const on = await worker({
      config: team({ lead: { subagents: ['scout'] } }),
      model: cast({
        lead: (request, n) =>
          n === 1
            ? call(delegate('writer', 'x'), delegate('scuot', 'x'), delegate('scout', ' '), [
                'delegate',
                { agent: 'scout', task: 'x', wait: 1 },
              ])
            : say(resultTexts(request).join('\n')),
      }),
    });
    const result = await (await start(on, { agent: 'lead' })).result();
    expect(result.output.split('\n')).toEqual([
      'no sub-agent named "writer"; available: scout',
      'no sub-agent named "scuot" (did you mean scout?); available: scout',
      'task: a text is needed; say all that the sub-agent must know',
      'wait: true or false is needed',
    ]);
    expect(result.subagents).toBeUndefined();
    expect(on.requests).toHaveLength(2);
  });

  it('A-32: a sub-agent that fails is a failed result, not a failure of its parent', async () => {
    const on = await worker({
      config: team({ scout: { maxTurns: 1, onMaxTurns: 'error' } }),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'find it')) : say(resultTexts(request).join())),
        scout: () => call(['nothing', {}]),
      }),
    });
    const result = await (await start(on, { agent: 'lead' })).result();
    expect(result).toMatchObject({ reason: 'completed', subagents: [{ agent: 'scout', reason: 'error' }] });
    expect(result.output).toMatch(/^\[sub-agent .+\/scout-1 ended: Run\.MaxTurns: exceeded maximum turns \(1\)\]/u);
  });

  it('B-37: at the last level no agent is offered delegate; with depth 2 a sub-agent has sub-agents of its own', async () => {
    const offered: string[] = [];
    const part = (next?: string) => (request: ModelRequest, n: number) => {
      if (n === 1) offered.push(`${agentOf(request)}: ${request.tools.map(({ name }) => name).join() || 'none'}`);
      return next !== undefined && n === 1 && request.tools.length > 0 ? call(delegate(next, 'go on')) : say(agentOf(request));
    };
    for (const depth of [1, 2]) {
      const on = await worker({ config: chain(depth), model: cast({ lead: part('scout'), scout: part('writer'), writer: part() }) });
      expect(await (await start(on, { agent: 'lead' })).result()).toMatchObject({ reason: 'completed' });
    }
    expect(offered).toEqual(['lead: delegate', 'scout: none', 'lead: delegate', 'scout: delegate', 'writer: none']);
  });

  it('the tree spends no more than the budget of its root: each sub-agent has an equal part of what is left, and gives the rest back', async () => {
    const limits: (number | undefined)[] = [];
    const on = await worker({
      config: team(),
      model: cast({
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'a'), delegate('writer', 'b')) : say('done')),
        scout: () => say('a'),
        writer: () => say('b'),
      }),
    });
    const run = await start(on, { agent: 'lead', maxTokens: 100_000 });
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', usage: { inputTokens: 40, outputTokens: 20 } });
    for (const name of ['scout-1', 'writer-1']) {
      const { raw } = await on.client.workflow
        .getHandle(`${run.runId}/${name}`)
        .fetchHistory()
        .then((history) => ({ raw: history.events?.[0] }));
      const payload = raw?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
      limits.push((JSON.parse(Buffer.from(payload ?? []).toString()) as { maxTokens?: number }).maxTokens);
    }
    const [first = 0, second = 0] = limits;
    expect(first).toBeGreaterThan(20_000);
    expect(first + second).toBeLessThan(100_000 * (2 / 3));
    expect(Math.abs(first - second)).toBeLessThan(2_000);
  });

  it('a budget that is too small for a sub-agent starts none', async () => {
    const on = await worker({
      config: team(),
      model: cast({ lead: (request, n) => (n === 1 ? call(delegate('scout', 'a')) : say(resultTexts(request).join())) }),
    });
    const result = await (await start(on, { agent: 'lead', maxTokens: 2_500 })).result();
    expect(result.output).toBe('not started: the rest of the budget is too small for a sub-agent');
  });

  it('a cancel of the parent cancels its sub-agents, and both end', async () => {
    const hanging = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: () => call(delegate('scout', 'a')),
        scout: async ({ signal }) => {
          hanging.open();
          return await new Promise<ModelAnswer>((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
          });
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    await hanging.opened;
    expect(await run.progress()).toMatchObject({
      status: 'waiting',
      waitingFor: `sub-agent ${run.runId}/scout-1`,
      subagents: [{ agent: 'scout' }],
    });
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled', subagents: [{ reason: 'cancelled' }] });
    const child = on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`);
    expect(await child.result()).toMatchObject({ reason: 'cancelled' });
  });

  it('a pause of the parent pauses its sub-agents, and a resume resumes them', async () => {
    const first = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: (_, n) => (n === 1 ? call(delegate('scout', 'a')) : say('done')),
        scout: async (_, n) => {
          if (n === 1) await first.opened;
          return n === 1 ? call(['nothing', {}]) : say('a');
        },
      }),
    });
    const run = await start(on, { agent: 'lead' });
    const child = testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(`${run.runId}/scout-1`));
    await until(() => on.requests.length === 2, 'the first request of the scout');
    await run.handle.signal('pause');
    await until(async () => (await signalsOf(child)).includes('pause'), 'the pause that the parent passes on');
    first.open();
    await until(async () => (await child.progress()).status === 'paused', 'the pause of the sub-agent');
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed', subagents: [{ reason: 'completed' }] });
  });

  it('a parent that continues as new while its sub-agent works is given the result once, and the sub-agent is not cancelled', async () => {
    const held = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: (request, n) => (n === 1 ? call(delegate('scout', 'a')) : say(resultTexts(request).join())),
        scout: async (_, n) => {
          if (n === 1) await held.opened;
          return n === 1 ? call(['nothing', {}]) : say('found');
        },
      }),
    });
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    await until(() => on.requests.length === 2, 'the first request of the scout');
    const { runId: first } = await run.handle.describe();
    for (let n = 0; n < 12; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` });
    await until(async () => (await run.handle.describe()).runId !== first, 'the next history of the parent');
    held.open();
    const result = await run.result();
    expect(result).toMatchObject({
      reason: 'completed',
      output: 'found',
      toolCalls: 1,
      subagents: [{ agent: 'scout', reason: 'completed' }],
    });
    const calls = (await run.events()).filter(
      ({ type }) => type === 'tool.call' || type === 'subagent.started' || type === 'subagent.ended',
    );
    expect(calls.map(({ type }) => type)).toEqual(['tool.call', 'subagent.started', 'subagent.ended']);
  });

  it('a cancel that comes while the parent continues as new ends the sub-agent too', async () => {
    const held = latch();
    const on = await worker({
      config: team(),
      model: cast({
        lead: () => call(delegate('scout', 'a')),
        scout: async () => {
          await held.opened;
          return say('late');
        },
      }),
    });
    const run = await start(on, { agent: 'lead', bounds: { continueAsNewSignals: 10 } });
    await until(() => on.requests.length === 2, 'the first request of the scout');
    const sent = Array.from({ length: 12 }, (_, n) => run.handle.signal('steer', { id: `m${n}`, text: `message ${n}` }));
    await Promise.all([...sent, run.handle.signal('cancel', {})]);
    held.open();
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'cancelled', subagents: [{ agent: 'scout' }] });
    expect((await on.client.workflow.getHandle(`${run.runId}/scout-1`).describe()).status.name).toBe('COMPLETED');
    expect((await run.events()).filter(({ type }) => type === 'subagent.ended')).toHaveLength(1);
  });

  it('only a run makes sub-agents: an input that names a parent is refused', async () => {
    const on = await worker({ config: team(), model: () => say('no') });
    const run = await start(on, { agent: 'scout', parent: { runId: 'other', agent: 'lead', callId: 'p0', depthLeft: 1 } });
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Input.Invalid', message: expect.stringContaining('parent') } });
    expect(on.requests).toHaveLength(0);
  });
});
