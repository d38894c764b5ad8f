import { type Arbitrary, array, assert, asyncProperty, constant, constantFrom, integer, letrec, oneof, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/contracts/event.js';
import type { Message } from '../../src/contracts/schemas/message.js';
import type { RunResult } from '../../src/contracts/schemas/run.js';
import type { Config } from '../../src/define/define-config.js';
import { type AgentWorker, call, say } from '../support/agent-worker.js';
import { type TestRun, testRun, until, useWorkers } from '../support/use-workers.js';

/** What an agent does: batches of sub-agents, each with a task of its own. It is the text of the task. */
interface Node {
  readonly batches: readonly (readonly Node[])[];
}

const { tree } = letrec<{ tree: Node; leaf: Node }>((tie) => ({
  leaf: constant({ batches: [] }),
  tree: record({
    batches: array(array(oneof({ depthSize: 'small', maxDepth: 1 }, tie('leaf'), tie('tree')), { minLength: 1, maxLength: 3 }), {
      maxLength: 2,
    }),
  }),
}));

type Act = { readonly kind: 'steer' | 'pause' | 'resume' | 'cancel' | 'worker' | 'wait'; readonly at: number };

const act: Arbitrary<Act> = record({
  kind: constantFrom('steer', 'steer', 'steer', 'pause', 'resume', 'cancel', 'worker', 'wait', 'wait'),
  at: integer({ min: 0, max: 20 }),
});

const config: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { node: { description: 'Works.', prompt: 'node', subagents: { agents: ['node'], allowSelf: true, depth: 2, liveMax: 2 } } },
};

/** Tokens of one request and its answer in this test. */
const CALL_TOKENS = 15;
const TOKENS_MAX = 60_000;

describe('a tree of delegations to which anything happens', () => {
  const { worker, start } = useWorkers();

  it('ends: every result comes back once, the purse holds, and no sub-agent is left at work', { timeout: 240_000 }, async () => {
    const options = { config, model: answer, shutdownGraceMs: 0 };
    const first = await worker(options);
    let spare = await worker({ ...options, taskQueue: first.taskQueue });
    await assert(
      asyncProperty(tree, array(act, { minLength: 5, maxLength: 25 }), async (root, acts) => {
        const bounds = { continueAsNewEvents: 20, continueAsNewSignals: 10 };
        const run = await start(first, { agent: 'node', task: JSON.stringify(root), maxTokens: TOKENS_MAX, maxTurns: 60, bounds });
        for (const [n, one] of acts.entries()) {
          if (one.kind === 'worker') {
            await spare.shutdown();
            spare = await worker({ ...options, taskQueue: first.taskQueue });
          } else await doAct(first, run, one, n);
        }
        const result = await endOf(first, run);
        const ended = await check(first, run, result);
        expect(spent(result), `of ${ended} runs`).toBeLessThanOrEqual(TOKENS_MAX);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});

/** The next batch of the task, until there is none. */
function answer({ messages, toolChoice, tools }: { messages: readonly Message[]; toolChoice: string; tools: readonly object[] }) {
  const task = messages.find(({ id }) => id.endsWith('-task'))?.parts[0];
  const { batches } = JSON.parse(task?.type === 'text' ? task.text : '{"batches":[]}') as Node;
  const batch = batches[messages.filter(({ parts }) => parts.some(({ type }) => type === 'tool_call')).length];
  if (!batch || toolChoice === 'none' || tools.length === 0) return say('done');
  return call(...batch.map((node) => ['delegate', { agent: 'node', task: JSON.stringify(node) }] as const));
}

/** Does one thing to one of the runs that are at work now. */
async function doAct(on: AgentWorker, root: TestRun, { kind, at }: Act, n: number): Promise<void> {
  const live = await liveRuns(on, root);
  const run = live[at % live.length] ?? root;
  switch (kind) {
    case 'steer':
      for (let each = 0; each < 4; each += 1)
        await settle(run.handle.signal('steer', { id: `s${n}-${each}`, text: `message ${n}-${each}` }));
      return;
    case 'cancel':
      // the root has to have a chance to see most of its tree
      return at % 4 === 0 || run !== root ? settle(run.handle.signal('cancel', {})) : undefined;
    case 'pause':
    case 'resume':
      return settle(run.handle.signal(kind));
    case 'worker':
    case 'wait':
      return settle(run.progress());
  }
}

/** Whatever comes of it: a run may have ended meanwhile. */
async function settle(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}

/** The run and its sub-agents at work, of all levels. */
async function liveRuns(on: AgentWorker, run: TestRun): Promise<TestRun[]> {
  const { subagents = [] } = await run.progress().catch(() => ({ subagents: [] }));
  const children = subagents.filter((subagent) => !('reason' in subagent)).map(({ runId }) => runOf(on, runId));
  return [run, ...(await Promise.all(children.map((child) => liveRuns(on, child)))).flat()];
}

function runOf(on: AgentWorker, runId: string): TestRun {
  return testRun(on.client.workflow.getHandle<() => Promise<RunResult>>(runId));
}

/** Resumes whatever is paused until the run has ended. */
async function endOf(on: AgentWorker, run: TestRun): Promise<RunResult> {
  const state = { isOver: false };
  const ended = run.result().finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    for (const { handle } of await liveRuns(on, run)) await settle(handle.signal('resume'));
    await Promise.race([settle(ended), new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  return await ended;
}

/** Checks a run and its sub-agents of all levels. Returns how many there are. */
async function check(on: AgentWorker, run: TestRun, result: RunResult): Promise<number> {
  const events = await run.events();
  const started = ids(events, 'subagent.started');
  const { subagents = [] } = result;
  expect(new Set(started).size).toBe(started.length);
  expect(ids(events, 'subagent.ended').toSorted()).toEqual(started.toSorted());
  expect(subagents.map(({ runId }) => runId).toSorted()).toEqual(started.toSorted());
  await expectResultsOnce(run);
  let runs = 1;
  let ofChildren = 0;
  for (const subagent of subagents) {
    const child = runOf(on, subagent.runId);
    await until(async () => (await child.handle.describe()).status.name !== 'RUNNING', `the end of ${subagent.runId}`);
    const own = await child.result();
    expect(subagent).toMatchObject({ reason: own.reason, usage: own.usage });
    ofChildren += spent(own);
    runs += await check(on, child, own);
  }
  // what is left is the run's own calls, each of the same size
  expect((spent(result) - ofChildren) % CALL_TOKENS).toBe(0);
  expect(spent(result)).toBeGreaterThanOrEqual(ofChildren);
  return runs;
}

/** Every call in the transcript has exactly one result. */
async function expectResultsOnce(run: TestRun): Promise<void> {
  const parts = (await run.messages()).flatMap((message) => message.parts);
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
  const results = parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : []));
  expect(results.toSorted()).toEqual(calls.toSorted());
}

function ids(events: readonly RunEvent[], type: 'subagent.started' | 'subagent.ended'): string[] {
  return events.flatMap((event) => (event.type === type ? [event.runId] : []));
}

function spent({ usage }: Pick<RunResult, 'usage'>): number {
  return usage.inputTokens + usage.outputTokens;
}
