import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/contracts/event.js';
import type { Reason, RunInput } from '../../../src/contracts/schemas/run.js';
import { defineHook } from '../../../src/define/define-hook.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { look } from '../../support/tools/sample-tools.js';
import { type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

/** One way for a run to end. */
interface Way {
  readonly end: string;
  readonly reason: Reason;
  readonly model?: (request: ModelRequest, n: number) => ModelAnswer | Promise<ModelAnswer>;
  readonly options?: Partial<AgentWorkerOptions>;
  readonly input?: Partial<RunInput>;
  /** What happens to it from outside, once the model was asked. */
  readonly meanwhile?: (handle: WorkflowHandle) => Promise<unknown>;
}

const WAYS: readonly Way[] = [
  { end: 'answers', reason: 'completed', model: (_, n) => (n < 3 ? callLook(n) : say('done')) },
  { end: 'answers a chat', reason: 'completed', model: () => callLook(1), input: { mode: 'chat' } },
  { end: 'goes through fresh histories', reason: 'completed', model: longWork, input: { bounds: { continueAsNewEvents: 20 } } },
  { end: 'reaches its turn cap', reason: 'max_turns', model: alwaysNew, input: { maxTurns: 3 } },
  { end: 'fails at its turn cap', reason: 'error', model: alwaysNew, input: { maxTurns: 3 }, options: { policy: { onMaxTurns: 'error' } } },
  { end: 'spends its budget', reason: 'budget', model: alwaysNew, input: { maxTokens: 2_000 } },
  { end: 'reaches its deadline', reason: 'deadline', model: untilStopped, input: { deadlineMs: 1_000 } },
  { end: 'repeats itself', reason: 'loop_detected', model: (request) => (isFinal(request) ? say('sum') : callLook(1)) },
  { end: 'is cut by the output limit', reason: 'max_tokens', model: () => ({ ...say('half'), stop: 'length' }) },
  { end: 'is refused by the model', reason: 'refusal', model: () => ({ ...say('no'), stop: 'refusal' }) },
  { end: 'is cancelled', reason: 'cancelled', model: untilStopped, meanwhile: (handle) => handle.signal('cancel', { reason: 'enough' }) },
  { end: 'is cancelled through Temporal', reason: 'cancelled', model: untilStopped, meanwhile: (handle) => handle.cancel() },
  { end: 'has no key', reason: 'error', model: fail },
  { end: 'could not be prepared', reason: 'error', options: { beforePrepare: () => Promise.reject(new Error('no such agent')) } },
  { end: 'is kept from starting by a hook', reason: 'error', options: { policy: {}, hooks: [keepOut()] } },
];

describe('the events of a run that …', () => {
  const { worker, start } = useWorkers();

  it.each(WAYS)('A-29, contradiction 18: … $end: one start, one end ($reason), each turn and call begun and ended once', async (way) => {
    const on = await worker({ model: way.model ?? (() => say('done')), tools: [look], policy: {}, ...way.options });
    const run = await start(on, way.input);
    if (way.meanwhile) {
      await until(() => on.requests.length > 0, 'the first request');
      await way.meanwhile(run.handle);
    }
    await ended(run);
    const events = await run.events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]).toMatchObject({ type: 'run.started' });
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', reason: way.reason });
    expect(events.filter(({ type }) => type === 'run.started' || type === 'run.ended')).toHaveLength(2);
    expect(turnsOf(events, 'turn.started')).toEqual(turnsOf(events, 'turn.ended'));
    expect(turnsOf(events, 'turn.started')).toEqual(turnsOf(events, 'turn.started').map((_, index) => index + 1));
    expect(callsOf(events, 'tool.result')).toEqual(callsOf(events, 'tool.call'));
    expect(resultsBeforeTheirCalls(events)).toEqual([]);
    expect(events.some(({ type }) => type === 'continued')).toBe(way.input?.bounds !== undefined);
  });
});

function isFinal({ toolChoice }: ModelRequest): boolean {
  return toolChoice === 'none';
}

function callLook(n: number): ModelAnswer {
  return call(['look', { n }], ['look', { n: -n }]);
}

function alwaysNew(request: ModelRequest, n: number): ModelAnswer {
  return isFinal(request) ? say('sum') : callLook(n);
}

function longWork(_: ModelRequest, n: number): ModelAnswer {
  return n < 8 ? callLook(n) : say('done');
}

function untilStopped(request: ModelRequest): Promise<ModelAnswer> {
  return isFinal(request) ? Promise.resolve(say('sum')) : untilAborted(request.signal);
}

function fail(): never {
  throw new ModelError('Model.Auth', 'the key is refused');
}

function keepOut() {
  return defineHook({ name: 'keep-out', on: 'before-run', run: () => ({ action: 'abort', reason: 'not today' }) });
}

/** Waits for the end, also of a run that fails or is cancelled. */
async function ended({ handle }: TestRun): Promise<void> {
  await handle.result().catch((error: unknown) => {
    if (!(error instanceof Error && error.name === 'WorkflowFailedError')) throw error;
  });
}

function turnsOf(events: readonly RunEvent[], type: 'turn.started' | 'turn.ended'): number[] {
  return events.flatMap((event) => (event.type === type ? [event.turn] : []));
}

/** The ids of the calls, in one order: results may come in another one than calls begin. */
function callsOf(events: readonly RunEvent[], type: 'tool.call' | 'tool.result'): string[] {
  return events.flatMap((event) => (event.type === type ? [event.callId] : [])).toSorted();
}

function resultsBeforeTheirCalls(events: readonly RunEvent[]): RunEvent[] {
  const called = new Set<string>();
  return events.filter((event) => {
    if (event.type === 'tool.call') called.add(event.callId);
    return event.type === 'tool.result' && !called.has(event.callId);
  });
}
