import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, it } from 'vitest';
import { CarriedState } from '../../../src/contracts/schemas/carried-state.js';
import { POLICY_OF_0_1 } from '../../../src/workflows/policies/policy-baseline.js';

type History = ReturnType<typeof historyFromJSON>;
type HistoryEvent = NonNullable<History['events']>[number];

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const NAMES = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));

/** Each wait with what shows that the run is in it, in the state it carries, and what ends it in the next history. */
const WAITS: readonly [wait: string, isIn: (state: CarriedState) => unknown, shows: unknown, endedBy: string][] = [
  ['0.2-approval', (state) => state.approvals.pending.map(({ tool }) => tool), ['act', 'act'], 'approve'],
  ['0.2-hold', (state) => state.hold?.by, 'ann', 'release'],
  ['0.2-pause', (state) => [state.paused, state.turnInProgress?.results.map((result) => result !== null)], [true, [true, false]], 'resume'],
  ['0.2-budget-ask', (state) => state.approvals.pending.map(({ callId }) => callId), ['budget'], 'extend'],
  // such a wait lasts seconds: it is a pause in it that outlasts a history
  ['0.2-backoff', (state) => [state.paused, state.counters.emptyStreams > 0, lastWait(state)], [true, true, 'model, after'], 'resume'],
  ['0.3-cooling', (state) => [state.paused, state.route.cooldowns.length, lastWait(state)], [true, 3, 'every model,'], 'resume'],
];

describe('saved histories hold what they are named after', () => {
  it.each(WAITS)('one that goes on in a fresh history while it waits: %s', async (wait, isIn, shows, endedBy) => {
    const [before, after] = [await readHistory(`${wait}-1`), await readHistory(`${wait}-2`)];
    const continued = before.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    const started = after[0]?.workflowExecutionStartedEventAttributes;
    expect(continued?.newExecutionRunId).toBe(started?.originalExecutionRunId);
    expect(carriedState(started?.input?.payloads)).toEqual(carriedState(continued?.input?.payloads));
    const state = carriedState(continued?.input?.payloads);
    expect(state.prepared.policy).not.toEqual(POLICY_OF_0_1);
    expect(isIn(state)).toEqual(shows);
    expect(messagesOf(before)).not.toContain(endedBy);
    expect(messagesOf(after)).toContain(endedBy);
    expect(after.at(-1)?.workflowExecutionCompletedEventAttributes).toBeTruthy();
  });

  it('a run with two questions, of which one is answered in the next history', async () => {
    const [before, after] = [await readHistory('0.6-question-1'), await readHistory('0.6-question-2')];
    const { questions } = carriedState(before.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads);
    expect(questions).toMatchObject({ pending: [{ question: 'Which region?' }], answered: [{ answer: 'Ada' }] });
    expect(inOrder(happenings(after), ['answer', 'callModel'])).toEqual(['answer', 'callModel']);
  });

  it.each([
    ['0.6-run-copy-lost', 1],
    ['0.6-run-copy-repeated', 2],
  ])('a run that lost its worker while it copied the conversation: %s has it copied %i times', async (name, times) => {
    const scheduled = happenings(await readHistory(name)).filter((what) => what === 'copyConversation');
    expect(scheduled).toHaveLength(times);
  });

  it('a run that sleeps, and ends its sleep in the next history at the same time', async () => {
    const [before, after] = [await readHistory('0.6-sleep-1'), await readHistory('0.6-sleep-2')];
    const carried = before.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads;
    expect(carriedState(carried).sleeps).toMatchObject([{ until: (carriedState(carried).sleeps?.[0]?.from ?? 0) + 4_000 }]);
    expect(carriedState(after[0]?.workflowExecutionStartedEventAttributes?.input?.payloads).sleeps).toEqual(carriedState(carried).sleeps);
    expect(inOrder(happenings(after), ['TIMER_FIRED', 'callModel', 'steer', 'callModel'])).toHaveLength(4);
  });

  it('a run that waits for a place of its tenant, and is granted it in the next history', async () => {
    const [before, after] = [await readHistory('0.4-tenant-place-1'), await readHistory('0.4-tenant-place-2')];
    const continued = before.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    expect(carriedState(continued?.input?.payloads).tenant).toMatchObject({ hasAsked: true, hasPlace: false });
    expect(carriedState(after[0]?.workflowExecutionStartedEventAttributes?.input?.payloads).tenant?.hasPlace).toBe(false);
    expect(inOrder(happenings(after), ['tenant', 'callModel'])).toEqual(['tenant', 'callModel']);
  });

  it.each([
    ['0.2-approval-expired', ['TIMER_FIRED']],
    ['0.2-hold-expired', ['TIMER_FIRED']],
    ['0.2-hooks', ['runHooks', 'checkTool', 'approve', 'runHooks']],
    ['0.2-hook-on-error', ['runHooks', 'callModel', 'runHooks']],
    ['0.2-hook-refused', ['runHooks']],
    ['0.2-accepted-answer', ['callModel', 'acceptAnswer', 'callModel', 'acceptAnswer', 'callModel', 'acceptAnswer']],
    ['0.2-summary', ['callTool', 'compact', 'callModel', 'compact']],
    ['0.2-compactor-failed', ['callTool', 'compact', 'callModel']],
    ['0.6-elicitation', ['callTool', 'ask', 'answer', 'callModel', 'callTool', 'ask', 'steer', 'callModel']],
    [
      '0.6-sampling',
      [
        'callTool',
        'sample',
        'callModel',
        'sample',
        'callModel',
        'sample',
        'callModel',
        'steer',
        'ACTIVITY_TASK_CANCEL_REQUESTED',
        'callModel',
      ],
    ],
    ['0.2-reconciled', ['callTool', 'reconcileTool', 'callTool', 'callModel']],
    ['0.2-preempted', ['callTool', 'steer', 'callModel']],
    ['0.2-cancelled-in-approval', ['checkTool', 'steer', 'callModel', 'checkTool', 'cancel']],
    ['0.2-interrupted', ['callModel', 'steer', 'ACTIVITY_TASK_CANCEL_REQUESTED', 'callModel']],
    ['0.3-failover', ['callModel', 'callModel', 'callModel', 'callTool', 'callModel']],
    ['0.3-all-failed', ['callModel', 'callModel', 'callModel']],
    ['0.3-weighed', ['callModel', 'callTool', 'callModel', 'compact', 'callModel', 'callModel']],
    ['0.3-failover-gate', ['callModel', 'approve', 'callTool', 'callModel']],
    ['0.3-directives', ['callModel', 'steer', 'steer', 'steer', 'callTool', 'resolveModel', 'resolveModel', 'callModel']],
    ['0.3-refused-dropped', ['callModel', 'steer', 'callTool', 'resolveModel', 'callModel']],
    ['0.4-local-reads', ['callModel', 'MARKER_RECORDED', 'MARKER_RECORDED', 'callModel']],
    ['0.4-reports-turns', ['callModel', 'UPSERT_SEARCH_ATTRIBUTES', 'callModel']],
    ['0.4-bad-arguments', ['callModel', 'callModel', 'callModel', 'callModel']],
    ['0.4-flood', ['callModel', 'pause', 'pause', 'CONTINUED_AS_NEW']],
    ['0.6-question-ended', ['callModel', 'TIMER_FIRED', 'callModel', 'steer', 'callModel']],
    ['0.4-signed', ['callModel', 'approve', 'checkSignature', 'extend', 'checkSignature', 'approve', 'checkSignature', 'callTool']],
    ['0.4-tenant-money', ['askTenant', 'tenant', 'callModel', 'askTenant', 'tenant', 'tenant', 'callModel']],
    ['0.4-tenant-cancelled', ['askTenant', 'tenant', 'cancel']],
    ['0.4-tenant-ledger', ['ask', 'ask', 'checkTenant', 'leave', 'leave', 'TIMER_FIRED']],
    ['0.5-commands-ended', ['callModel', 'callModel', 'endCommands']],
    ['0.5-commands-not-ended', ['callModel', 'callModel', 'endCommands']],
    ['0.6-scheduled-message', ['sendScheduled']],
    ['0.4-provider-ledger', ['take', 'take', 'TIMER_FIRED']],
    ['0.3-refused-kept', ['callModel', 'steer', 'callTool', 'resolveModel', 'resolveModel', 'callModel']],
  ])('%s', async (name, expected) => {
    expect(inOrder(happenings(await readHistory(name)), expected)).toEqual(expected);
  });

  it('every activity, signal and update of a run is in one of them', async () => {
    const all = new Set((await Promise.all(NAMES.map(readHistory))).flatMap(happenings));
    const activities = [
      'prepareRun',
      'callModel',
      'callTool',
      'checkTool',
      'runHooks',
      'acceptAnswer',
      'compact',
      'reconcileTool',
      'resolveModel',
      'checkSignature',
      'askTenant',
      'checkTenant',
      'endCommands',
      'awaitRoom',
    ];
    const messages = ['steer', 'cancel', 'pause', 'resume', 'hold', 'release', 'submit', 'extend', 'approve', 'deny', 'tenant'];
    expect([...activities, ...messages].filter((name) => !all.has(name))).toEqual([]);
  });
});

async function readHistory(name: string): Promise<HistoryEvent[]> {
  return historyFromJSON(JSON.parse(await readFile(`${FOLDER}${name}.json`, 'utf8'))).events ?? [];
}

/** What an execution gives to the next one: its second argument, checked as the workflow checks it. */
function carriedState(payloads: Parameters<typeof defaultPayloadConverter.fromPayload>[0][] | null | undefined): CarriedState {
  const payload = payloads?.[1];
  if (!payload) throw new Error('no state is carried');
  return CarriedState.parse(defaultPayloadConverter.fromPayload(payload));
}

function lastWait({ events }: CarriedState): string | undefined {
  const last = events.kept.findLast(({ type }) => type === 'waiting');
  return typeof last?.['for'] === 'string' ? last['for'].slice(0, 'model, after'.length) : undefined;
}

/** Names of the signals and updates that came in, in their order. */
function messagesOf(events: readonly HistoryEvent[]): string[] {
  return events.flatMap((event) => {
    const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
    return [signal, update].filter((name) => typeof name === 'string');
  });
}

/** Activities by their names, signals and updates by theirs, all else by the type of event; in their order. */
function happenings(events: readonly HistoryEvent[]): string[] {
  return events.flatMap((event) => {
    const named = [...messagesOf([event]), event.activityTaskScheduledEventAttributes?.activityType?.name ?? ''].filter(Boolean);
    return named.length > 0 ? named : [EVENT_NAMES.find(([key]) => event[key])?.[1] ?? 'other'];
  });
}

const EVENT_NAMES: readonly [keyof HistoryEvent, string][] = [
  ['timerFiredEventAttributes', 'TIMER_FIRED'],
  ['activityTaskCancelRequestedEventAttributes', 'ACTIVITY_TASK_CANCEL_REQUESTED'],
  ['markerRecordedEventAttributes', 'MARKER_RECORDED'],
  ['upsertWorkflowSearchAttributesEventAttributes', 'UPSERT_SEARCH_ATTRIBUTES'],
  ['workflowExecutionContinuedAsNewEventAttributes', 'CONTINUED_AS_NEW'],
];

/** Of `names` those that are found one after the other: all of them, when they happened in this order. */
function inOrder(all: readonly string[], names: readonly string[]): string[] {
  let from = 0;
  return names.filter((name) => {
    const at = all.indexOf(name, from);
    if (at !== -1) from = at + 1;
    return at !== -1;
  });
}
