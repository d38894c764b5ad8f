import type { Client } from '@temporalio/client';
import { expect } from 'vitest';
import { STEER_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunEvent } from '../../../src/contracts/event.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { type TestRun, testRun, until } from '../use-workers.js';

/** What happened in a tree of runs. */
export interface TreeCounts {
  runs: number;
  background: number;
  handoffs: number;
  continued: number;
  workersLost: number;
  steers: number;
  /** Runs that their part of the purse ended, and sub-agents that it was too small for. */
  atPurse: number;
}

/** The counts of nothing. */
export function noCounts(): TreeCounts {
  return { runs: 0, background: 0, handoffs: 0, continued: 0, workersLost: 0, steers: 0, atPurse: 0 };
}

/** The facts that a check of a tree needs. */
export interface CheckedTree {
  readonly client: Client;
  /** The ids of the messages that the server took, by run id. */
  readonly sent: ReadonlyMap<string, readonly string[]>;
  readonly counts: TreeCounts;
}

/**
 * Checks a run that has ended and its sub-agents of all levels: each ended, each result came exactly once, each message is in one final
 * state, and the usage of the parent includes theirs. Adds to the counts.
 */
export async function checkTree(tree: CheckedTree, run: TestRun, result: RunResult): Promise<void> {
  const events = await patiently(() => run.events());
  const { subagents = [] } = result;
  const recorded = subagents.map(({ runId }) => runId).toSorted();
  expect(new Set(recorded).size).toBe(recorded.length);
  // a long run no longer has its first events
  if (events[0]?.seq === 1) {
    expect(ids(events, 'subagent.started').toSorted()).toEqual(recorded);
    expect(ids(events, 'subagent.ended').toSorted()).toEqual(recorded);
  }
  await expectResultsOnce(run, tree.counts, result);
  expectSteersSettled(result, tree.sent.get(run.runId) ?? []);
  count(tree.counts, events, result);
  let ofChildren = 0;
  for (const subagent of subagents) {
    const child = runOf(tree.client, subagent.runId);
    await until(async () => (await child.handle.describe()).status.name !== 'RUNNING', `the end of ${subagent.runId}`);
    const own = await resultOf(child);
    expect(subagent).toMatchObject({ reason: own.reason, usage: own.usage });
    ofChildren += spent(own);
    await checkTree(tree, child, own);
  }
  expect(spent(result)).toBeGreaterThanOrEqual(ofChildren);
}

/** Checks that the server has no run below `runId` but those of the tree, and that none of them is open. */
export async function expectNoOrphan({ workflow }: Client, runId: string, runs: number): Promise<void> {
  const below = `WorkflowId STARTS_WITH '${runId}/'`;
  // lists of the server come late
  await until(
    async () => {
      const known = new Set<string>();
      for await (const { workflowId } of workflow.list({ query: below })) known.add(workflowId);
      expect(known.size).toBeLessThan(runs);
      return known.size === runs - 1;
    },
    `${runs - 1} sub-agents in the list`,
  );
  await until(async () => (await workflow.count(`${below} AND ExecutionStatus = 'Running'`)).count === 0, 'no sub-agent at work');
}

/** The failures of workflow tasks of a run, in all its histories. A task whose worker was killed, or that new events overtook, is none. */
export async function failuresOfTasks({ workflow }: Client, runId: string): Promise<string[]> {
  const failures: string[] = [];
  for (let executionId: string | undefined; ; ) {
    const { events } = await workflow.getHandle(runId, executionId).fetchHistory();
    for (const { workflowTaskFailedEventAttributes: failed } of events ?? []) {
      if (failed?.failure?.message && !/unhandled.?command/iu.test(failed.failure.message)) failures.push(failed.failure.message);
    }
    executionId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
    if (executionId === undefined) return failures;
  }
}

/**
 * The run and its sub-agents at work, of all levels, as the server lists them. A query would need a worker: one that answers while a task
 * waits for a dead worker leaves a history that does not replay (SDK 1.24).
 */
export async function liveRuns({ workflow }: Client, { runId }: TestRun): Promise<TestRun[]> {
  const live: TestRun[] = [];
  const query = `WorkflowId STARTS_WITH '${runId}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of workflow.list({ query }))
    if (workflowId === runId || workflowId.startsWith(`${runId}/`)) live.push(testRun(workflow.getHandle(workflowId)));
  return live;
}

/** A run by its id. */
export function runOf(client: Client, runId: string): TestRun {
  return testRun(client.workflow.getHandle<() => Promise<RunResult>>(runId));
}

/** The result of a run, also of one that Temporal cancelled. */
export async function resultOf({ handle }: TestRun): Promise<RunResult> {
  return (await patiently(() => handle.query<RunResult | null>('result'))) ?? ((await handle.result()) as RunResult);
}

/** Asks again when no worker answered: the one that had the run in its memory may have been killed. */
async function patiently<T>(ask: () => Promise<T>, times = 5): Promise<T> {
  const [asked] = await Promise.allSettled([ask()]);
  if (asked.status === 'fulfilled') return asked.value;
  if (times <= 1) throw asked.reason;
  return await patiently(ask, times - 1);
}

/** Tokens that a run spent, with its sub-agents. */
export function spent({ usage }: Pick<RunResult, 'usage'>): number {
  return usage.inputTokens + usage.outputTokens;
}

/** Every call has exactly one result, and a sub-agent in the background brings one more: at most one, and exactly one if the run completed. */
async function expectResultsOnce(run: TestRun, counts: TreeCounts, result: RunResult): Promise<void> {
  const messages = await patiently(() => run.messages());
  const parts = messages.flatMap((message) => message.parts);
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
  const results = parts.flatMap((part) => (part.type === 'tool_result' ? [part] : []));
  expect(results.map(({ callId }) => callId).toSorted()).toEqual(calls.toSorted());
  const background = results.flatMap(({ callId, parts: [text] }) =>
    text?.type === 'text' && text.text.startsWith('started sub-agent ') ? [callId] : [],
  );
  const brought = messages.flatMap(({ id, origin }) => (origin === 'subagent' ? [id.replace(/-end$/u, '')] : []));
  expect(new Set(brought).size).toBe(brought.length);
  expect(background).toEqual(expect.arrayContaining(brought));
  if (result.reason === 'completed') expect(brought.toSorted()).toEqual(background.toSorted());
  counts.background += background.length;
  counts.atPurse += results.filter(
    ({ parts: [text] }) => text?.type === 'text' && text.text.includes('the rest of the budget is too small'),
  ).length;
}

function expectSteersSettled({ steers = [] }: RunResult, sent: readonly string[]): void {
  const settled = steers.filter(({ state }) => state !== 'queued').map(({ id }) => id);
  expect(new Set(settled).size).toBe(settled.length);
  // a result has the newest messages
  const isCut = steers.length === STEER_LIMITS.resultRecordsMax;
  const kept = isCut ? sent.slice(sent.findIndex((id) => settled.includes(id))) : sent;
  expect(settled).toEqual(expect.arrayContaining([...kept]));
}

function count(counts: TreeCounts, events: readonly RunEvent[], { steers = [], reason }: RunResult): void {
  counts.runs += 1;
  if (reason === 'budget') counts.atPurse += 1;
  counts.steers += steers.length;
  for (const event of events) {
    if (event.type === 'handoff') counts.handoffs += 1;
    if (event.type === 'continued') counts.continued += 1;
    if (event.type === 'worker.lost') counts.workersLost += 1;
  }
}

function ids(events: readonly RunEvent[], type: 'subagent.started' | 'subagent.ended'): string[] {
  return events.flatMap((event) => (event.type === type ? [event.runId] : []));
}
