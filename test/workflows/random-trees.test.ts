import type { Client } from '@temporalio/client';
import { type Arbitrary, array, assert, asyncProperty, boolean, constant, constantFrom, integer, letrec, oneof, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/contracts/message-text.js';
import type { RunResult } from '../../src/contracts/schemas/run.js';
import type { ModelAnswer, ModelRequest } from '../../src/providers/contract/provider.js';
import { type AgentWorker, call, say } from '../support/agent-worker.js';
import { agentOf, castConfig } from '../support/subagents/cast.js';
import { checkTree, liveRuns, noCounts, spent } from '../support/subagents/check-tree.js';
import { stuckTree } from '../support/subagents/stuck-tree.js';
import { nextCalls, readPlan, type TreePlan } from '../support/subagents/tree-plan.js';
import { type TestRun, useWorkers } from '../support/use-workers.js';

const { plan } = letrec<{ plan: TreePlan; leaf: TreePlan }>((tie) => ({
  leaf: constant({ batches: [] }),
  plan: record({
    batches: array(
      array(
        oneof(
          { weight: 5, arbitrary: record({ wait: boolean(), plan: oneof({ depthSize: 'small', maxDepth: 1 }, tie('leaf'), tie('plan')) }) },
          { weight: 1, arbitrary: constant('handoff' as const) },
        ),
        { minLength: 1, maxLength: 3 },
      ),
      { maxLength: 2 },
    ),
  }),
}));

type Act = { readonly kind: 'steer' | 'pause' | 'resume' | 'cancel' | 'worker' | 'wait'; readonly at: number };

const act: Arbitrary<Act> = record({
  kind: constantFrom('steer', 'steer', 'steer', 'pause', 'resume', 'cancel', 'worker', 'wait', 'wait'),
  at: integer({ min: 0, max: 20 }),
});

const subagents = { agents: ['node'], allowSelf: true, depth: 2, liveMax: 2 };
const config = castConfig({
  node: { subagents, handoffs: ['twin'] },
  twin: { subagents: { ...subagents, allowSelf: false }, handoffs: ['node'] },
});

/** An ample purse, and one that some of a tree has to do without. */
const purse = constantFrom(60_000, 6_000);

const LEAF: TreePlan = { batches: [] };
const DEEP: TreePlan = {
  batches: [
    [
      { wait: true, plan: LEAF },
      { wait: false, plan: LEAF },
    ],
    ['handoff'],
  ],
};

/** A tree with each kind of call, long enough to continue as new, and one that its purse is too small for. */
const EACH_KIND: [TreePlan, number, Act[]][] = [
  [
    {
      batches: [
        [
          { wait: true, plan: DEEP },
          { wait: false, plan: DEEP },
        ],
        ['handoff'],
        [{ wait: true, plan: LEAF }],
      ],
    },
    60_000,
    (['steer', 'worker', 'pause', 'steer', 'resume', 'worker'] as const).map((kind) => ({ kind, at: 0 })),
  ],
  [{ batches: [[0, 1, 2].map(() => ({ wait: true, plan: DEEP }))] }, 6_000, [{ kind: 'wait', at: 0 }]],
];

describe('a tree of delegations to which anything happens', () => {
  const { worker, start } = useWorkers();

  it('ends: every result comes back once, the purse holds, and no sub-agent is left at work', { timeout: 600_000 }, async () => {
    const options = { config, model: answer, shutdownGraceMs: 0 };
    const first = await worker(options);
    let spare = await worker({ ...options, taskQueue: first.taskQueue });
    const counts = noCounts();
    await assert(
      asyncProperty(plan, purse, array(act, { minLength: 5, maxLength: 25 }), async (root, maxTokens, acts) => {
        const bounds = { continueAsNewEvents: 20, continueAsNewSignals: 10 };
        const run = await start(first, { agent: 'node', task: JSON.stringify(root), maxTokens, maxTurns: 60, bounds });
        const sent = new Map<string, string[]>();
        for (const [n, one] of acts.entries()) {
          if (one.kind === 'worker') {
            await spare.shutdown();
            spare = await worker({ ...options, taskQueue: first.taskQueue });
          } else await doAct({ client: first.client, sent }, run, one, n);
        }
        const result = await endOf(first, run);
        await checkTree({ client: first.client, sent, counts }, run, result);
        expect(spent(result)).toBeLessThanOrEqual(maxTokens);
      }),
      { numRuns: 4, endOnFailure: true, examples: EACH_KIND },
    );
    expect(counts.runs).toBeGreaterThanOrEqual(4);
    // a worker that ends may have no call at that moment
    const { workersLost: _, ...always } = counts;
    expect(Object.entries(always).flatMap(([kind, number]) => (number === 0 ? [kind] : []))).toEqual([]);
  });
});

const ANSWER_TOKENS = 400;

/** The next batch of the plan, until there is none. */
function answer({ prompt, messages, toolChoice, tools, outputTokensMax }: ModelRequest): ModelAnswer {
  const task = messages.find(({ id }) => id.endsWith('-task'));
  const answered = messages.filter(({ parts }) => parts.some(({ type }) => type === 'tool_call')).length;
  const offered = new Set(tools.map(({ name }) => name));
  const calls = nextCalls(agentOf({ prompt }), readPlan(task ? textOf(task) : ''), answered).filter(([name]) => offered.has(name));
  const given = calls.length === 0 || toolChoice === 'none' ? say('done') : call(...calls);
  // as much as a real answer costs, within the limit of the request
  const outputTokens = Math.min(ANSWER_TOKENS, outputTokensMax);
  return { ...given, usage: { inputTokens: 10, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 } };
}

/** The place of a tree, and the ids of the messages that its runs took. */
interface Place {
  readonly client: Client;
  readonly sent: Map<string, string[]>;
}

/** Does one thing to one of the runs that are at work now. */
async function doAct({ client, sent }: Place, root: TestRun, { kind, at }: Act, n: number): Promise<void> {
  const live = await liveRuns(client, root);
  const run = live[at % live.length] ?? root;
  switch (kind) {
    case 'steer':
      for (let each = 0; each < 4; each += 1) {
        const id = `s${n}-${each}`;
        const [outcome] = await Promise.allSettled([run.handle.signal('steer', { id, text: `message ${id}` })]);
        if (outcome?.status === 'fulfilled') sent.set(run.runId, [...(sent.get(run.runId) ?? []), id]);
      }
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

/** Some trees take ten seconds on a busy machine. */
const TREE_MS_MAX = 90_000;

/** Resumes whatever is paused until the run has ended. */
async function endOf(on: AgentWorker, run: TestRun): Promise<RunResult> {
  const state = { isOver: false };
  const ended = run.result().finally(() => {
    state.isOver = true;
  });
  const deadline = Date.now() + TREE_MS_MAX;
  while (!state.isOver) {
    if (Date.now() > deadline) throw await stuckTree(on.client, await liveRuns(on.client, run));
    for (const { handle } of await liveRuns(on.client, run)) await settle(handle.signal('resume'));
    await Promise.race([settle(ended), new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  return await ended;
}
