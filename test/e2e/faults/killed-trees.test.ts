import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, inject, test } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { Random } from '../../../src/testing/crash/plan/random.js';
import {
  checkTree,
  expectNoOrphan,
  failuresOfTasks,
  liveRuns,
  noCounts,
  resultOf,
  runOf,
  spent,
  type TreeCounts,
} from '../../support/subagents/check-tree.js';
import { randomPlan, type TreePlan } from '../../support/subagents/tree-plan.js';
import { type TestRun, testRun } from '../../support/use-workers.js';
import type { Command } from '../support/command.js';
import { startOwnedWorker } from '../support/owned-workers.js';
import { type PerdureFolder, usePerdureFolders } from '../support/perdure-folder.js';
import { startTreeModel, type TreeModel } from '../support/tree-model.js';

const CONFIG = fileURLToPath(new URL('../fixtures/trees/perdure.config.mjs', import.meta.url));

/** `TREE_SEED=N` repeats the trees of a seed, `TREE_SECONDS=N` starts new ones for so long. */
const SEED = Number(process.env['TREE_SEED'] ?? Date.now() % 1_000_000);
const SECONDS = Number(process.env['TREE_SECONDS'] ?? 40);

/** More time for a kind that did not come up. */
const MORE_MS = 60_000;

/** The purses of trees: ample ones, and those that some of a tree has to do without. */
const PURSES = [200_000, 12_000, 5_000];
const HEARTBEAT_MS = 3_000;
/** Trees at once. */
const TREES = 3;
const ANSWER_MS_MAX = 400;
const ACT_MS_MAX = 600;

const folder = usePerdureFolders();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** What was done to the trees, by kind. */
type Acts = Record<'kill' | 'steer' | 'pause' | 'cancel', number>;

test(`random trees of sub-agents survive kill -9 of their workers (seed ${SEED})`, { timeout: (SECONDS + 240) * 1_000 }, async () => {
  const random = new Random(SEED);
  const model = await startTreeModel({ delayMs: () => random.integer(0, ANSWER_MS_MAX) });
  open.push(model);
  const chaos = await startChaos(random, model);
  const counts = noCounts();
  const acts: Acts = { kill: 0, steer: 0, pause: 0, cancel: 0 };
  const endsAt = Date.now() + SECONDS * 1_000;
  const missing = (): readonly string[] => Object.entries({ ...acts, ...counts }).flatMap(([kind, number]) => (number === 0 ? [kind] : []));
  let trees = 0;
  do {
    const roots = await Promise.all(
      Array.from({ length: TREES }, () => chaos.start(randomPlan(random, 2), PURSES[random.integer(0, PURSES.length - 1)] ?? 0)),
    );
    trees += roots.length;
    const ends = roots.map((root) => letEnd(root, { chaos, random, acts }));
    await Promise.all([
      ...ends,
      chaos.kill(
        roots.map(({ root }) => root),
        acts,
      ),
    ]);
    // queries need workers that live
    for (const end of ends) await check(chaos.client, await end, counts);
    // a rare kind of fault may need more trees
  } while (Date.now() < endsAt || (missing().length > 0 && Date.now() < endsAt + MORE_MS));
  console.log(`seed ${SEED}: ${trees} trees, ${JSON.stringify({ ...acts, ...counts })}`);
  // a run in which nothing of a kind happened shows nothing about it
  expect(missing()).toEqual([]);
});

/** One tree, with what may happen to it. */
interface Trial {
  readonly chaos: Chaos;
  readonly random: Random;
  readonly acts: Acts;
}

/** A tree at work, with the tokens that it may spend. */
interface StartedTree {
  readonly root: TestRun;
  readonly purse: number;
}

/** A tree that has ended. */
interface EndedTree extends StartedTree {
  readonly result: RunResult;
  /** The ids of the messages that the server took, by run id. */
  readonly sent: ReadonlyMap<string, readonly string[]>;
}

/** Does things to a tree until it has ended. */
async function letEnd({ root, purse }: StartedTree, { chaos: { client }, random, acts }: Trial): Promise<EndedTree> {
  const sent = new Map<string, string[]>();
  const state = { isOver: false };
  const ended = root.result().finally(() => {
    state.isOver = true;
  });
  for (let n = 0; !state.isOver; n += 1) {
    const live = await liveRuns(client, root);
    const run = live[random.integer(0, live.length - 1)] ?? root;
    await act(run, run === root, { random, acts, sent, n });
    await Promise.race([Promise.allSettled([ended]), wait(random.integer(0, ACT_MS_MAX))]);
  }
  return { root, purse, result: await ended, sent };
}

async function check(client: Client, { root, purse, result, sent }: EndedTree, counts: TreeCounts): Promise<void> {
  expect(spent(result)).toBeLessThanOrEqual(purse);
  const own = noCounts();
  await checkTree({ client, sent, counts: own }, root, result);
  await expectNoOrphan(client, root.runId, own.runs);
  for (const runId of [root.runId, ...(await allBelow(client, result))])
    expect({ runId, failures: await failuresOfTasks(client, runId) }).toEqual({ runId, failures: [] });
  for (const what of Object.keys(own) as (keyof TreeCounts)[]) counts[what] += own[what];
}

/** Does one thing to a run. A pause is always ended, and a root is cancelled late: it has to have a chance to see its tree. */
async function act(
  { handle, runId }: TestRun,
  isRoot: boolean,
  { random, acts, sent, n }: Omit<Trial, 'chaos'> & { readonly sent: Map<string, string[]>; readonly n: number },
): Promise<void> {
  const mayCancel = !isRoot || n > 20;
  const kind = random.choose([
    ['steer', 6],
    ['pause', acts.pause === 0 ? 20 : 1],
    ['cancel', mayCancel ? (acts.cancel === 0 ? 20 : 1) : 0],
    ['resume', 4],
  ] as const);
  const signal = async (name: string, input: object): Promise<boolean> => {
    const [outcome] = await Promise.allSettled([handle.signal(name, input)]);
    return outcome?.status === 'fulfilled';
  };
  if (kind === 'steer') {
    for (let each = 0; each < 4; each += 1) {
      const id = `s${n}-${each}`;
      if (!(await signal('steer', { id, text: `message ${id}` }))) return;
      acts.steer += 1;
      sent.set(runId, [...(sent.get(runId) ?? []), id]);
    }
  } else if (kind !== undefined && (await signal(kind, {})) && kind !== 'resume') acts[kind] += 1;
}

async function allBelow(client: Client, { subagents = [] }: RunResult): Promise<string[]> {
  const below = subagents.map(async ({ runId }) => [runId, ...(await allBelow(client, await resultOf(runOf(client, runId))))]);
  return (await Promise.all(below)).flat();
}

/** Worker processes of one queue, and what kills them. */
interface Chaos {
  readonly client: Client;
  start(plan: TreePlan, purse: number): Promise<StartedTree>;
  /** Kills a worker and starts another one, again and again, until the runs have ended. */
  kill(roots: readonly TestRun[], acts: Acts): Promise<void>;
}

async function startChaos(random: Random, model: TreeModel): Promise<Chaos> {
  const here: PerdureFolder = await folder({ OPENAI_API_KEY: 'key-of-the-test', OPENAI_BASE_URL: model.baseUrl });
  await cp(CONFIG, join(here.dir, 'perdure.config.mjs'));
  const address = inject('temporalAddress');
  const taskQueue = `trees-${SEED}-${process.pid}`;
  const newWorker = (): Promise<Command> => startOwnedWorker(here, { address, taskQueue, heartbeatTimeoutMs: HEARTBEAT_MS });
  const workers = await Promise.all([newWorker(), newWorker()]);
  const connection = await Connection.connect({ address });
  open.push(connection);
  const client = new Client({ connection });
  let trees = 0;
  return {
    client,
    start: async (plan, purse) => {
      trees += 1;
      const bounds = { continueAsNewEvents: 30, continueAsNewSignals: 10 };
      const input = { task: JSON.stringify(plan), agent: 'node', maxTokens: purse, maxTurns: 60, bounds };
      const options = { taskQueue, workflowId: `${taskQueue}-${trees}`, args: [input] };
      return { root: testRun(await client.workflow.start<() => Promise<RunResult>>('agentRun', options as never)), purse };
    },
    kill: async (roots, acts) => {
      const state = { isOver: false };
      const ended = Promise.allSettled(roots.map((root) => root.result())).finally(() => {
        state.isOver = true;
      });
      while (!state.isOver) {
        await wait(random.integer(500, 2_500));
        const [victim] = workers.splice(random.integer(0, workers.length - 1), 1);
        await victim?.kill('SIGKILL');
        acts.kill += 1;
        workers.push(await newWorker());
      }
      await ended;
    },
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
