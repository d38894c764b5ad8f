import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { failure } from '../../../src/activities/runtime/failures.js';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';
import { HANDLER_DESCRIPTIONS } from '../../../src/contracts/handlers.js';
import { textOf } from '../../../src/contracts/message-text.js';
import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { ExtendInput, RunInput } from '../../../src/contracts/schemas/run.js';
import { ASK_SIGNAL, QUESTION_QUERY, SAMPLE_SIGNAL, SAMPLING_QUERY } from '../../../src/contracts/text/ids.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';
import { words } from '../policies/support/transcripts.js';

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  parameters: z.strictObject({ to: z.string() }),
  approval: 'always',
  execute: ({ to }) => `deployed to ${to}`,
});

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `${n}: ${words(2_000)}`,
});

const stay = defineTool({
  name: 'stay',
  description: 'Stays until it is stopped.',
  parameters: z.strictObject({}),
  execute: (_, { signal }) => untilAborted(signal),
});

const USAGE = { ...NO_USAGE, inputTokens: 4_000, outputTokens: 5 };

describe('what the Web UI shows of a run', () => {
  const { worker, start } = useWorkers();

  /** A run that waits for a person to decide these calls. */
  async function asking(...places: readonly string[]): Promise<TestRun> {
    const calls = places.map((to) => ['deploy', { to }] as const);
    const on = await worker({ model: (_, n) => (n === 1 ? call(...calls) : say('ok')), tools: [deploy], policy: {} });
    const run = await start(on);
    await until(async () => (await run.progress()).pendingApprovals === places.length, 'the question');
    return run;
  }

  it('what waits for a person comes first, with its arguments and what to send', async () => {
    const run = await asking('production');
    const [waiting] = (await run.handle.query<ApprovalList>('approvals')).pending;
    expect((await rowsOf(run)).slice(0, 3)).toEqual([
      '| Status | waiting |',
      '| Pending approval | deploy `{"to":"production"}` |',
      `| → send | update approve or deny \`{"callId":"${waiting?.callId}"}\` |`,
    ]);
    await run.handle.executeUpdate('deny', { args: [{ callId: waiting?.callId, by: 'ada|bob' }] });
    await run.result();
    expect(await rowsOf(run)).toContain(String.raw`| Last decision | deploy\: denied by ada\|bob |`);
  });

  it('X: text of a model stays in its cell, is no markup, and fills in no name', async () => {
    const run = await asking('a | b\n| forged | row |\n[l](http://x) `c` <b>d</b> {workflowId} \u202e');
    const rows = await rowsOf(run);
    expect(rows.filter((row) => row.startsWith('| forged'))).toEqual([]);
    const [, asked = ''] = rows;
    expect(asked).toContain(String.raw`a \| b`);
    expect(asked.replaceAll(/\\./gu, '')).not.toMatch(/\[|<|`|\{|\u202e|http:/u);
    // the cell's own two bars and the one after its name
    expect(asked.replaceAll(/\\./gu, '').split('|')).toHaveLength(4);
  });

  it('many and long questions stay within 4 KiB, and the rest is counted', async () => {
    const run = await asking(...Array.from({ length: 9 }, (_, n) => `${n} ${'|*"ж'.repeat(2_000)}`));
    const details = await detailsOf(run);
    expect(Buffer.byteLength(details)).toBeLessThanOrEqual(PAYLOAD_LIMITS.currentDetailsBytesMax);
    expect(details).toContain('|  | and 5 more: query approvals |');
  });

  it('a pause and a hold say what they wait for, and who holds', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['look', { n }]) : say('ok')), tools: [look], policy: {} });
    const run = await start(on);
    await run.handle.signal('pause');
    await run.handle.signal('hold', { by: 'ann', ttlMs: 600_000 });
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    expect(await rowsOf(run)).toContain('| Waiting for | signal resume |');
    await run.handle.signal('resume');
    await until(async () => (await run.progress()).waitingFor?.startsWith('release') === true, 'the hold');
    expect(await rowsOf(run)).toContainEqual(expect.stringMatching(/^\| Waiting for \| release \\\(held by ann until /u));
    expect(await summariesOf(run)).toContain('held by ann');
    await run.handle.signal('release');
    await run.result();
  });

  it.each<[string, Partial<RunInput>, string, ExtendInput]>([
    ['turns', { maxTurns: 2 }, '2 turns', { turns: 2 }],
    ['tokens', { maxTokens: 10_000, deadlineMs: 600_000 }, '10000 tokens', { tokens: 10_000 }],
    ['money', { maxTokens: 1_000_000, maxCostUsd: 0.01 }, String.raw`1000000 tokens or &#36;0\.01`, { costUsd: 0.01 }],
    ['time', { deadlineMs: 1_500, task: 'wait' }, '2 s of working time', { deadlineMs: 1_500 }],
    ['turns and tokens at once', { maxTurns: 1, maxTokens: 10_000 }, '10000 tokens', { turns: 1, tokens: 10_000 }],
  ])('a spent cap says what to send for more, and that is enough to go on: %s', async (_, caps, limit, more) => {
    const on = await worker({ model: spend, tools: [look, stay], policy: { onBudget: 'ask' }, price: { input: 1, output: 1 } });
    const run = await start(on, caps);
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the question');
    const rows = await rowsOf(run);
    expect(rows).toContain(`| Pending approval | increase of the limit of ${limit} |`);
    expect(rows).toContain(`| → send | update extend \`${JSON.stringify(more)}\`, or deny \`{"callId":"budget"}\` |`);
    await run.handle.executeUpdate('extend', { args: [more] });
    await until(async () => (await run.events()).some(({ type }) => type === 'approval.decided'), 'the answer');
    await run.handle.signal('cancel', {});
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect(await summariesOf(run)).toContainEqual(
      expect.stringMatching(/^waiting for increase of the limit of \d+ (?:turns|tokens|s of working time)/u),
    );
  });

  it('the timeline names each call, what a wait is for, and the first model call after a compaction', async () => {
    const on = await worker({ model: deployThenLook, tools: [deploy, look], policy: {}, contextWindow: 4_000 });
    const run = await start(on);
    await until(async () => (await run.progress()).pendingApprovals === 1, 'the question');
    const [waiting] = (await run.handle.query<ApprovalList>('approvals')).pending;
    await run.handle.executeUpdate('approve', { args: [{ callId: waiting?.callId }] });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const summaries = await summariesOf(run);
    expect(summaries.slice(0, 5)).toEqual([
      'prepare agent, prompt and tools',
      'turn 1: fake/model',
      'turn 1: check deploy',
      'waiting for approval of deploy',
      'turn 1: deploy',
    ]);
    const compactions = (await run.events()).filter(({ type }) => type === 'compacted');
    const after = summaries.filter((summary) => summary.endsWith('fake/model, after compaction'));
    expect(after.length).toBeGreaterThan(0);
    expect(after.length).toBeLessThanOrEqual(compactions.length);
  });

  it('the timeline tells of a lost worker in plain words, at the call that is made again', async () => {
    const on = await worker({
      model: (_, n) => {
        if (n === 1) throw failure('Worker.Died', 'worker process 7 on vm died (killed by SIGKILL) before it reported a result');
        return say('ok');
      },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await summariesOf(run)).slice(1)).toEqual(['turn 1: fake/model', 'turn 1: fake/model, again: its worker was lost']);
  });

  it('every signal, update and query says what to send and what it does', async () => {
    const run = await asking('x');
    const { definition } = await run.handle.query<Metadata>('__temporal_workflow_metadata');
    const described = [...definition.signalDefinitions, ...definition.updateDefinitions, ...definition.queryDefinitions]
      .filter(({ name }) => !name.startsWith('__'))
      .map(({ name, description }) => [name, description]);
    const ofCalls = expect.stringMatching(/Not for operators\.$/u);
    expect(Object.fromEntries(described)).toEqual({
      ...HANDLER_DESCRIPTIONS,
      [ASK_SIGNAL]: ofCalls,
      [QUESTION_QUERY]: ofCalls,
      [SAMPLE_SIGNAL]: ofCalls,
      [SAMPLING_QUERY]: ofCalls,
    });
    await run.handle.signal('cancel', {});
    await run.result();
  });
});

interface Described {
  readonly name: string;
  readonly description: string;
}

function deployThenLook(_: unknown, n: number): ReturnType<typeof say> {
  if (n === 1) return call(['deploy', { to: 'x' }]);
  return n < 12 ? call(['look', { n }]) : say('ok');
}

/** Goes on and on; waits when that is its task. */
function spend({ messages: [task] }: ModelRequest, n: number): ReturnType<typeof say> {
  return { ...(task && textOf(task) === 'wait' ? call(['stay', {}]) : call(['look', { n }])), usage: USAGE };
}

/** What the Web UI asks each workflow for. */
interface Metadata {
  readonly currentDetails: string;
  readonly definition: Readonly<Record<'signalDefinitions' | 'updateDefinitions' | 'queryDefinitions', readonly Described[]>>;
}

/** The Markdown under *User Metadata*. */
async function detailsOf({ handle }: TestRun): Promise<string> {
  return (await handle.query<Metadata>('__temporal_workflow_metadata')).currentDetails;
}

/** Its rows, without those that only make the table. */
async function rowsOf(run: TestRun): Promise<string[]> {
  return (await detailsOf(run)).split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| | |'));
}

/** The texts beside activities and timers, in order. */
async function summariesOf({ handle }: { handle: WorkflowHandle }): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ userMetadata, activityTaskScheduledEventAttributes, timerStartedEventAttributes }) => {
    if (!activityTaskScheduledEventAttributes && !timerStartedEventAttributes) return [];
    const data = userMetadata?.summary?.data;
    return data ? [String(JSON.parse(Buffer.from(data).toString()))] : [];
  });
}
