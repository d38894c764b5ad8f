import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ModelError } from '../../src/activities/providers/model-error.js';
import type { RunEvent } from '../../src/contracts/event.js';
import type { RunResult } from '../../src/contracts/run.js';
import { defineTool } from '../../src/define/define-tool.js';
import type { StreamEvent } from '../../src/streams/stream-sink.js';
import { type AgentWorkerOptions, call, say } from '../support/agent-worker.js';
import { latch, until, useWorkers } from '../support/use-workers.js';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `seen ${n}`,
});

describe('the events of a run', () => {
  const { worker, start } = useWorkers();

  it('E-15: with one turn of tools they come in one order, each turn with its number from 1, its usage and its calls', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['look', { n: 1 }]) : say('done')), tools: [look], policy: {} });
    const run = await start(on);
    await run.result();
    const usage = { inputTokens: 10, outputTokens: 5 };
    expect(await run.events()).toMatchObject([
      { type: 'run.started', agent: 'default', model: 'fake/model' },
      { type: 'turn.started', turn: 1 },
      { type: 'model.completed', turn: 1, usage, stop: 'tool_calls' },
      { type: 'tool.call', turn: 1, tool: 'look' },
      { type: 'tool.result', turn: 1, isError: false, outcome: 'ok' },
      { type: 'turn.ended', turn: 1 },
      { type: 'turn.started', turn: 2 },
      { type: 'model.completed', turn: 2, usage, stop: 'end', text: 'done' },
      { type: 'turn.ended', turn: 2 },
      { type: 'run.ended', reason: 'completed', turns: 2 },
    ]);
  });

  it('C-08: a message streams and ends before its tools begin, every tool ends once after it began, and the turn ends after all of them', async () => {
    const streamed: StreamEvent[] = [];
    const atStart: (string | undefined)[] = [];
    const slowFirst = latch();
    const turns = defineTool({
      name: 'turns',
      description: 'The first call ends last.',
      parameters: z.strictObject({ n: z.number() }),
      effect: 'read',
      execute: async ({ n }) => {
        atStart.push(streamed.at(-1)?.type);
        if (n === 1) await slowFirst.opened;
        return `turned ${n}`;
      },
    });
    const on = await worker({
      model: (request, n) => {
        for (const text of ['one ', 'two']) request.onDelta({ type: 'text', text });
        return n === 1 ? call(['turns', { n: 1 }], ['turns', { n: 2 }]) : say('one two');
      },
      tools: [turns],
      policy: {},
      streams: { publish: (event) => streamed.push(event), flush: () => Promise.resolve() },
    });
    const run = await start(on);
    await until(async () => (await run.events()).some(({ type }) => type === 'tool.result'), 'the end of the second call');
    slowFirst.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 2 });
    expect(streamed.filter(({ turn }) => turn === 1).map(({ type }) => type)).toEqual(['reset', 'text', 'text', 'end']);
    expect(atStart).toEqual(['end', 'end']);
    const events = (await run.events()).filter((event) => 'turn' in event && event.turn === 1);
    expect(events.map(shown)).toEqual([
      'turn.started',
      'model.completed',
      'tool.call 0',
      'tool.call 1',
      'tool.result 1',
      'tool.result 0',
      'turn.ended',
    ]);
  });

  it.each<[failure: string, options: AgentWorkerOptions, error: Partial<RunResult['error']>]>([
    ['a model that refuses', { model: refuse }, { type: 'Model.Auth', turn: 1 }],
    [
      'a hook that aborts',
      {
        model: () => call(['look', { n: 1 }]),
        hooks: [{ name: 'alarm', on: 'before-tool', run: () => ({ action: 'abort', reason: 'smoke' }) }],
      },
      { type: 'Hook.Aborted', turn: 1 },
    ],
    [
      'a turn cap that is an error',
      { model: (_, n) => call(['look', { n }]), policy: { onMaxTurns: 'error' } },
      { type: 'Run.MaxTurns', turn: 2 },
    ],
    [
      'a loop that is an error',
      { model: () => call(['look', { n: 1 }]), policy: { loop: { onLoop: 'error', nudgeAt: 2, blockAt: 2, stopAt: 2 } } },
      { type: 'Run.LoopDetected', turn: 2 },
    ],
  ])(
    'E-16: %s is told in one last event, after all that began has ended, and then thrown with its type and its turn',
    async (_, options, error) => {
      const on = await worker({ tools: [look], policy: {}, ...options });
      const run = await start(on, { maxTurns: 2 });
      await expect(run.result()).rejects.toMatchObject({ cause: { type: error?.type } });
      const events = await run.events();
      expect(events.at(-1)).toMatchObject({ type: 'run.ended', reason: 'error' });
      expect(events.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
      expect(unended(events)).toEqual([]);
      expect(await run.handle.query<RunResult>('result')).toMatchObject({ reason: 'error', error });
      expect(await run.progress()).toMatchObject({ status: 'error', phase: 'closed' });
    },
  );

  it('E-16: a run that could not begin has its error event too', async () => {
    const on = await worker({
      model: () => say('never'),
      beforePrepare: () => Promise.reject(ApplicationFailure.nonRetryable('no such agent', 'Input.Invalid')),
    });
    const run = await start(on);
    await expect(run.result()).rejects.toThrow('Workflow execution failed');
    expect((await run.events()).map(({ type }) => type)).toEqual(['run.started', 'run.ended']);
    expect((await run.events()).at(-1)).toMatchObject({ reason: 'error' });
  });
});

function refuse(): never {
  throw new ModelError('Model.Auth', 'the key was refused');
}

function shown(event: RunEvent): string {
  return event.type === 'tool.call' || event.type === 'tool.result' ? `${event.type} ${place(event.callId)}` : event.type;
}

/** Ids of calls end with their place among the calls of their answer, counted from 0. */
function place(callId: string): number {
  return Number(/(\d+)$/u.exec(callId)?.[1]);
}

/** Turns and calls that began and have no end. */
function unended(events: readonly RunEvent[]): string[] {
  const of = (...types: RunEvent['type'][]) =>
    events.flatMap((event) =>
      types.includes(event.type) ? [`${'callId' in event ? event.callId : 'turn' in event ? event.turn : ''}`] : [],
    );
  const ended = new Set(of('turn.ended', 'tool.result'));
  return of('turn.started', 'tool.call').filter((id) => !ended.has(id));
}
