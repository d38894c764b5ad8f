import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import type { Message, Part } from '../../../src/contracts/schemas/message.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { checkRun } from '../../../src/testing/crash/checks/checks.js';
import type { Evidence } from '../../../src/testing/crash/checks/evidence.js';
import type { EffectRecord } from '../../../src/testing/crash/child/effect-log.js';

const RESULT: RunResult = {
  v: 1,
  runId: 'r',
  executionId: 'e2',
  reason: 'completed',
  output: 'Done.',
  turns: 2,
  toolCalls: 1,
  usage: NO_USAGE,
  models: ['scripted/x'],
  unconsumed: [{ id: 'late', text: 'too late' }],
};

const CALL: Part = { type: 'tool_call', callId: 'c1', name: 'charge', args: {} };
const TOOL_RESULT: Part = { type: 'tool_result', callId: 'c1', isError: false, parts: [{ type: 'text', text: 'ok' }] };
const TASK: Message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] };
const FIRST: Message = { id: 'm2', role: 'assistant', parts: [CALL] };
const SECOND: Message = { id: 'm3', role: 'tool', parts: [TOOL_RESULT] };
const STEER: Message = { id: 'note', role: 'user', origin: 'steer', parts: [{ type: 'text', text: 'Quick.' }] };
const LAST: Message = { id: 'm4', role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] };

const START: EffectRecord = {
  what: 'start',
  tool: 'charge',
  effect: 'once',
  hasReconcile: false,
  runId: 'r',
  turn: 1,
  callId: 'c1',
  key: 'k1',
  attempt: 1,
  pid: 10,
  at: 1_000,
};
const END: EffectRecord = { ...START, what: 'end', at: 1_100 };

/** A run of which every promise was kept. */
const KEPT: Evidence = {
  runId: 'r',
  result: RESULT,
  plainResult: { reason: 'completed' },
  endsWithinMs: 1_000,
  transcript: [TASK, FIRST, SECOND, STEER, LAST],
  steers: [
    { id: 'note', state: 'delivered', turn: 2 },
    { id: 'late', state: 'unconsumed' },
  ],
  sent: [
    { id: 'note', acknowledged: true },
    { id: 'late', acknowledged: true },
    { id: 'never', acknowledged: false },
  ],
  effects: [START, END],
  executions: [
    { executionId: 'e1', failedTasks: [] },
    { executionId: 'e2', failedTasks: [] },
  ],
  tools: [{ name: 'charge', pure: false, hasReconcile: false }],
  counted: new Map([['k1', 1]]),
  reasons: ['completed'],
  surprises: [],
  unanswered: [],
};

const reconciled = (record: EffectRecord): EffectRecord => ({ ...record, hasReconcile: true });

/** One broken promise each: the evidence, the kind and the message of the only finding. */
const BROKEN: Readonly<Record<string, readonly [change: Partial<Evidence>, kind: string, message: string]>> = {
  'a second start of a once tool': [{ effects: [START, END, { ...START, pid: 11 }] }, 'doubled', 'charge started 2 times'],
  'a second start of a once tool that never returned': [{ effects: [START, START, END] }, 'doubled', 'charge started 2 times'],
  'a start after the end, with a reconcile': [
    { effects: [START, END, START].map(reconciled) },
    'doubled',
    'charge started again after it had returned',
  ],
  'two ends, with a reconcile': [{ effects: [START, START, END, END].map(reconciled) }, 'doubled', 'charge returned 2 times'],
  'two counted effects': [{ counted: new Map([['k1', 2]]) }, 'doubled', '2 effects were counted for idempotency key k1'],
  'another key for the same call': [
    {
      effects: [
        { ...START, effect: 'idempotent' },
        { ...END, effect: 'idempotent', key: 'k2' },
      ],
    },
    'doubled',
    'turn 1, call c1 has the idempotency keys k1 and k2',
  ],
  'a key of two calls': [{ effects: [START, END, { ...END, what: 'threw', callId: 'c2' }] }, 'doubled', 'key k1 belongs to'],
  'a result without a return': [{ effects: [START] }, 'lost', 'charge has a successful result for call c1, and never returned'],
  'an acknowledged message without a record': [{ sent: [{ id: 'gone', acknowledged: true }] }, 'lost', 'message gone was acknowledged'],
  'a message in two states': [{ steers: [...KEPT.steers, { id: 'note', state: 'unconsumed' }] }, 'lost', 'message note has 2 records'],
  'a queued message of a closed run': [
    { steers: [{ id: 'never', state: 'queued' }, ...KEPT.steers] },
    'lost',
    'message never is still queued in a closed run',
  ],
  'a delivered message outside the transcript': [
    { transcript: [TASK, FIRST, SECOND, LAST] },
    'lost',
    'message note is delivered, and 0 times in the transcript',
  ],
  'an unconsumed message outside the result': [
    { result: { ...RESULT, unconsumed: [] } },
    'lost',
    'message late is unconsumed, and 0 times in the result',
  ],
  'an unconsumed message in the transcript': [
    { transcript: [TASK, FIRST, SECOND, STEER, { ...STEER, id: 'late' }, LAST] },
    'lost',
    'message late is unconsumed, and in the transcript',
  ],
  'a call without a result': [{ transcript: [TASK, FIRST, STEER, LAST] }, 'broken', 'call c1 has no result before the next answer'],
  'a result without a call': [{ transcript: [TASK, SECOND, STEER, LAST] }, 'broken', 'the result of call c1 has no open call'],
  'a message twice': [{ transcript: [TASK, TASK, FIRST, SECOND, STEER, LAST] }, 'broken', 'message m1 is twice in the transcript'],
  'no final answer': [{ transcript: [TASK, FIRST, SECOND, STEER] }, 'broken', 'the last message is of role user, not an answer'],
  'another output': [{ result: { ...RESULT, output: 'Other.' } }, 'broken', 'the output "Other." is not the last answer "Done."'],
  'another reason': [
    { result: { ...RESULT, reason: 'max_turns' }, plainResult: { reason: 'max_turns' } },
    'broken',
    'ended with max_turns',
  ],
  'a result that a plain client cannot read': [{ plainResult: { error: 'TMPRL1105' } }, 'broken', 'cannot read the result: TMPRL1105'],
  'a failed workflow task': [
    { executions: [{ executionId: 'e1', failedTasks: ['event 9: NON_DETERMINISTIC_ERROR: no'] }] },
    'broken',
    'execution e1: event 9',
  ],
  'a worker that ended by itself': [{ surprises: ['worker 10 ended by itself with 1'] }, 'broken', 'worker 10 ended by itself with 1'],
  'a question without an answer': [{ unanswered: ['steers: NO_WORKER'] }, 'broken', 'steers: NO_WORKER'],
};

describe('checkRun', () => {
  it('finds nothing in a run that kept its promises', () => {
    expect(checkRun(KEPT)).toEqual([]);
  });

  it('accepts a second start after a reconcile that found nothing', () => {
    expect(checkRun({ ...KEPT, effects: [START, START, END].map(reconciled) })).toEqual([]);
  });

  it('finds a run that did not end, and says nothing about its result', () => {
    const { result: _, ...open } = KEPT;
    expect(checkRun(open)).toEqual([expect.objectContaining({ kind: 'hung', check: 'ends-in-time' })]);
  });

  it.each(Object.entries(BROKEN))('finds %s', (_, [change, kind, message]) => {
    const findings = checkRun({ ...KEPT, ...change });
    expect(findings).toEqual([expect.objectContaining({ kind, message: expect.stringContaining(message) })]);
  });
});
