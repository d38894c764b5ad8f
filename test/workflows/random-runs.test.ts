import { ServiceError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { type Arbitrary, array, assert, asyncProperty, boolean, constant, constantFrom, oneof, record } from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { ApprovalList } from '../../src/contracts/schemas/approval.js';
import type { Message } from '../../src/contracts/schemas/message.js';
import type { RunResult, SteerRecord } from '../../src/contracts/schemas/run.js';
import { isPaired } from '../../src/workflows/policies/transcript/repair-transcript.js';
import { type AgentWorker, call, say } from '../support/agent-worker.js';
import { recorder } from '../support/tools/recorder.js';
import { latch, type TestRun, untilAborted, useWorkers } from '../support/use-workers.js';

/** What may happen to a live run, in any order and at any moment. */
type Act =
  | { readonly kind: 'steer'; readonly mode: 'boundary' | 'preempt' | 'interrupt'; readonly ttlMs?: number }
  | { readonly kind: 'pause' | 'resume' | 'hold' | 'release' | 'decide' | 'extend' | 'look' };

const act: Arbitrary<Act> = oneof(
  { weight: 4, arbitrary: record({ kind: constant('steer'), mode: constantFrom('boundary', 'preempt', 'interrupt') }) },
  { weight: 1, arbitrary: constant({ kind: 'steer', mode: 'preempt', ttlMs: 1_000 } as const) },
  {
    weight: 5,
    arbitrary: record({ kind: constantFrom('pause', 'resume', 'hold', 'release', 'decide', 'extend', 'look', 'look') }),
  },
);

/** What the model answers, request for request. */
const answers = array(array(constantFrom('look', 'know', 'change', 'nothing'), { minLength: 0, maxLength: 4 }), {
  minLength: 4,
  maxLength: 10,
});

describe('a run to which anything happens', () => {
  const { worker, start } = useWorkers();

  it('ends, loses no message, pairs every request, takes no id twice, and replays', { timeout: 240_000 }, async () => {
    let [next, quiet] = [latch(), latch()];
    const goOn = (): void => {
      next.open();
      next = latch();
    };
    const on = await worker({
      model: async (request, n) => {
        request.onDelta({ type: 'text', text: 'half an ans' });
        // some answers take until something else happens to the run, some until nothing happens any more
        if (n % 2 === 0) await Promise.race([(n % 4 === 0 ? quiet : next).opened, untilAborted(request.signal)]);
        return answer(request.messages, request.toolChoice === 'none');
      },
      tools: recorder('change', (name, n) => `${name} ${n} ${'word '.repeat(300)}`).tools,
      policy: {
        gate: { rules: [{ tool: 'change', decision: 'ask' }] },
        onBudget: 'ask',
        loop: { onLoop: 'off' },
        completion: { attemptsMax: 0 },
        compaction: { keepRecentTokens: 300 },
      },
      contextWindow: 6_000,
    });
    await assert(
      asyncProperty(answers, array(act, { minLength: 10, maxLength: 40 }), boolean(), async (script, acts, isCancelled) => {
        const run = await start(on, { task: JSON.stringify(script), maxTurns: 4, bounds: { continueAsNewEvents: 30 } });
        for (const [n, one] of acts.entries()) {
          await doAct(run, one, n);
          goOn();
        }
        if (isCancelled) await settle(run.handle.signal('cancel', {}));
        const result = await letEnd(run, () => {
          goOn();
          quiet.open();
        });
        quiet = latch();
        expect(result.reason).toMatch(isCancelled ? /^(cancelled|completed|max_turns)$/u : /^(completed|max_turns)$/u);
        await check(run, result, on);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});

/** What the script in the task says comes after so many answers; text at its end. */
function answer(messages: readonly Message[], isLast: boolean) {
  const script = z.array(z.array(z.string())).parse(JSON.parse(taskOf(messages)));
  const turn = Math.max(0, ...messages.map((message) => (message.role === 'assistant' ? (message.turn ?? 0) : 0)));
  const names = script[turn];
  if (isLast || !names) return say('the end');
  return names.length === 0
    ? say('')
    : call(...names.map((name, index) => [name, { n: name === 'know' ? 1 : turn * 10 + index }] as const));
}

function taskOf(messages: readonly Message[]): string {
  const task = messages.find(({ id }) => id.endsWith('-task'))?.parts[0];
  return task?.type === 'text' ? task.text : '[]';
}

/** Whatever the run says to it: it may have ended, or have nothing to decide about. */
async function doAct({ handle }: TestRun, given: Act, n: number): Promise<void> {
  switch (given.kind) {
    case 'steer': {
      const { kind: _, ...steer } = given;
      return await settle(handle.signal('steer', { id: `s${n}`, text: `message ${n}`, ...steer }));
    }
    case 'hold':
      return await settle(handle.signal('hold', { ttlMs: 1_000 }));
    case 'decide':
      return await settle(decideAll(handle, n % 3 === 0 ? 'deny' : 'approve'));
    case 'extend':
      return await settle(handle.executeUpdate('extend', { args: [{ turns: 1 }] }));
    case 'look':
      return await settle(handle.query('progress'));
    case 'pause':
    case 'resume':
    case 'release':
      return await settle(handle.signal(given.kind));
  }
}

async function settle(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}

async function decideAll(handle: TestRun['handle'], verb: 'approve' | 'deny'): Promise<void> {
  const { pending } = await handle.query<ApprovalList>('approvals');
  for (const { callId } of pending) {
    await settle(handle.executeUpdate(callId === 'budget' ? 'deny' : verb, { args: [{ callId }] }));
  }
}

/** Takes away all that holds a run back until it has ended. */
async function letEnd(run: TestRun, goOn: () => void): Promise<RunResult> {
  const ended = { result: undefined as RunResult | undefined };
  const result = run.result().then((value) => {
    ended.result = value;
    return value;
  });
  while (!ended.result) {
    goOn();
    for (const kind of ['resume', 'release', 'decide'] as const) await doAct(run, { kind }, 1);
    await Promise.race([result, run.progress().catch(() => undefined)]);
  }
  return await result;
}

/** A server drops a query that comes while its worker puts the closed run aside, and says so after ten seconds: it is asked once more. */
async function answered<T>(query: () => Promise<T>): Promise<T> {
  return await query().catch((error: unknown) => {
    if (error instanceof ServiceError) return query();
    throw error;
  });
}

async function check(run: TestRun, result: RunResult, on: AgentWorker): Promise<void> {
  const messages = await answered(() => run.messages());
  expect(isPaired(messages)).toBe(true);
  expect(new Set(messages.map(({ id, role }) => `${role} ${id}`)).size).toBe(messages.length);
  const requests = on.requests.splice(0);
  for (const request of requests) expect(isPaired(request.messages)).toBe(true);
  const steers = await answered(() => run.handle.query<SteerRecord[]>('steers'));
  expect(steers.filter(({ state }) => state === 'queued')).toEqual([]);
  expect(new Set(steers.map(({ id }) => id)).size).toBe(steers.length);
  const events = await answered(() => run.events());
  const accepted = events.flatMap((event) => (event.type === 'steer.accepted' ? [event.id] : []));
  expect(steers.map(({ id }) => id)).toEqual(expect.arrayContaining(accepted));
  const sent = new Set(requests.flatMap((request) => request.messages.map(({ id }) => id)));
  const delivered = steers.filter(({ state }) => state === 'delivered');
  expect(delivered.filter(({ id }) => !sent.has(id))).toEqual([]);
  expect(result.unconsumed.map(({ id }) => id)).toEqual(steers.filter(({ state }) => state === 'unconsumed').map(({ id }) => id));
  expect((await answered(() => run.handle.query<ApprovalList>('approvals'))).pending).toEqual([]);
  expect(events.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
  const calls = events.filter(({ type }) => type === 'tool.call').length;
  expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(calls);
  await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') } }, await run.handle.fetchHistory(), run.runId);
}
