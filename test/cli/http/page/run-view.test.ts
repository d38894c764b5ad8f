import { describe, expect, it } from 'vitest';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import { fileChangeOf } from '../../../../src/gateway/page/browser/content/file-change.js';
import { planOf } from '../../../../src/gateway/page/browser/content/plan-of.js';
import { type Item, itemsOf } from '../../../../src/gateway/page/browser/state/items-of.js';
import { newRunView, type RunView } from '../../../../src/gateway/page/browser/state/run-view.js';
import { takeEvent } from '../../../../src/gateway/page/browser/state/take-event.js';
import { takeMessages } from '../../../../src/gateway/page/browser/state/take-messages.js';

/** The view after events: each is its type and its data. */
function after(events: readonly (readonly [type: string, data: object])[], from: RunView = newRunView('r')): RunView {
  return events.reduce(
    (view, [type, data], index) => takeEvent(view, { id: `e${index}`, type, data: { seq: index, type, ...data } }),
    from,
  );
}

function message(id: string, role: Message['role'], parts: Part[], turn?: number): Message {
  return { id, role, parts, ...(turn === undefined ? {} : { turn }) };
}

const text = (value: string): Part => ({ type: 'text', text: value });
const TASK = message('m0', 'user', [text('do it')]);

/** The items in short. */
function short(view: RunView): string[] {
  return itemsOf(view).map((item: Item) => {
    if (item.kind === 'note') return `note: ${item.note.text}`;
    if (item.kind === 'message') return `${item.label}: ${item.text}`;
    const { turn, text: said, isLive, calls } = item.answer;
    return `${turn}${isLive ? ' live' : ''}: ${said}${calls.map((call) => ` [${call.name} ${call.state}]`).join('')}`;
  });
}

describe('the view of a run', () => {
  it('shows tokens as they arrive, drops those of a superseded attempt, and then shows the answer of the transcript', () => {
    const begun = after([
      ['turn.started', { turn: 1 }],
      ['text.delta', { turn: 1, text: 'Hel' }],
      ['attempt.reset', { turn: 1 }],
      ['text.delta', { turn: 1, text: 'Good ' }],
      ['text.delta', { turn: 1, text: 'day' }],
    ]);
    expect(short(begun)).toEqual(['1 live: Good day']);
    const settled = takeMessages(begun, [TASK, message('m1', 'assistant', [text('Good day.')], 1)], { isWhole: true });
    expect(short(settled)).toEqual(['You: do it', '1: Good day.']);
    // tokens may come after the event of their answer
    expect(short(after([['text.delta', { turn: 1, text: '.' }]], settled))).toEqual(['You: do it', '1: Good day.']);
    expect(itemsOf(begun)[0]?.key).toBe(itemsOf(settled)[1]?.key);
  });

  it('keeps what arrived of an answer at the end of the run, until the transcript has it', () => {
    const ended = after([
      ['text.delta', { turn: 1, text: 'Good' }],
      ['result', { result: { reason: 'completed' } }],
    ]);
    expect(short(ended)).toEqual(['1: Good']);
  });

  it('tells the reserved final answer from the answer of the last turn', () => {
    const view = takeMessages(
      after([['text.delta', { turn: 2, text: 'In short', final: true }]]),
      [TASK, message('m1', 'assistant', [text('Long.')], 2)],
      { isWhole: true },
    );
    expect(short(view)).toEqual(['You: do it', '2: Long.', '2 live: In short']);
    const ended = takeMessages(view, [message('m2_final', 'assistant', [text('In short.')], 2)], { isWhole: false });
    expect(short(ended)).toEqual(['You: do it', '2: Long.', '2: In short.']);
  });

  it('follows a call from its approval to its result, by events and by the transcript alone', () => {
    const call: Part = { type: 'tool_call', callId: 'c1', name: 'deploy', args: {} };
    const result: Part = { type: 'tool_result', callId: 'c1', isError: false, parts: [{ type: 'text', text: 'done' }] };
    const messages = [TASK, message('m1', 'assistant', [text('I deploy.'), call], 1)];
    const asked = takeMessages(after([['approval.asked', { turn: 1, callId: 'c1', title: 'Deploying' }]]), messages, { isWhole: true });
    const states = [
      asked,
      after([['approval.decided', { callId: 'c1', decision: 'approved', by: 'me' }]], asked),
      after([['tool.call', { turn: 1, callId: 'c1', title: 'Deploying' }]], asked),
      after([['tool.result', { turn: 1, callId: 'c1', outcome: 'ok', isError: false, durationMs: 5 }]], asked),
      after([['tool.result', { turn: 1, callId: 'c1', outcome: 'unknown', isError: true, durationMs: 5 }]], asked),
      after(
        [
          ['approval.decided', { callId: 'c1', decision: 'denied', by: 'me' }],
          ['tool.call', { turn: 1, callId: 'c1', title: 'Deploying' }],
          ['tool.result', { turn: 1, callId: 'c1', outcome: 'failed', isError: true, durationMs: 0 }],
        ],
        asked,
      ),
      takeMessages(newRunView('r'), [...messages, message('m2', 'tool', [result], 1)], { isWhole: true }),
    ].map((view) => short(view)[1]);
    expect(states).toEqual(
      ['asking', 'waiting', 'running', 'ok', 'unknown', 'denied', 'ok'].map((state) => `1: I deploy. [deploy ${state}]`),
    );
  });

  it('keeps messages that a compaction removed, before those that the transcript has', () => {
    const view = takeMessages(
      newRunView('r'),
      [TASK, message('m1', 'assistant', [text('one')], 1), message('m2', 'assistant', [text('two')], 2)],
      { isWhole: true },
    );
    const summary: Message = { ...message('s', 'user', [text('so far')], 2), origin: 'summary' };
    const compacted = takeMessages(
      view,
      [summary, message('m2', 'assistant', [text('two')], 2), message('m3', 'assistant', [text('three')], 3)],
      { isWhole: true },
    );
    expect(short(compacted)).toEqual(['You: do it', '1: one', 'Summary of earlier messages: so far', '2: two', '3: three']);
  });

  it('leaves out the conversation that a run of a session continues', () => {
    const earlier = [message('a', 'user', [text('before')]), message('b', 'assistant', [text('an answer')], 1)];
    expect(short(takeMessages(newRunView('r'), [...earlier, TASK], { isWhole: true }))).toEqual(['You: do it']);
  });

  it('puts notes behind the turn that they belong to, each once, also when events come again', () => {
    const events = [
      ['turn.started', { turn: 1 }],
      ['model.switched', { turn: 1, from: 'a', to: 'b', why: 'cooled down' }],
      ['turn.started', { turn: 2 }],
      ['worker.lost', { turn: 2, activity: 'callModel' }],
    ] as const;
    const view = takeMessages(
      after(events, after(events)),
      [TASK, message('m1', 'assistant', [text('one')], 1), message('m2', 'assistant', [text('two')], 2)],
      { isWhole: true },
    );
    expect(short(view)).toEqual([
      'You: do it',
      '1: one',
      'note: Model changed from a to b (cooled down).',
      '2: two',
      'note: A worker was lost during callModel.',
    ]);
  });

  it('counts messages that wait until they are delivered, and ignores events of later versions', () => {
    const view = after([
      ['steer.accepted', { id: 's1', position: 0 }],
      ['steer.accepted', { id: 's2', position: 1 }],
      ['steer.delivered', { id: 's1', turn: 1 }],
      ['from.the.future', { turn: 1 }],
      ['__proto__', {}],
      ['constructor', {}],
    ]);
    expect(view.queued).toEqual(['s2']);
    expect(short(view)).toEqual([]);
  });
});

describe('what a call shows', () => {
  it('an edit is the lines that differ, a new file its lines, a patch the lines as it has them', () => {
    expect(lines('edit_file', { path: 'a', oldText: 'one\ntwo', newText: 'one\nthree' })).toEqual([
      'same one',
      'removed two',
      'added three',
    ]);
    expect(lines('write_file', { path: 'a', content: 'one\n\ntwo\n' })).toEqual(['added one', 'added ', 'added two']);
    expect(lines('apply_patch', { patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n same' })).toEqual([
      'place --- a/x',
      'place +++ b/x',
      'place @@ -1 +1 @@',
      'removed one',
      'added two',
      'same same',
    ]);
    expect(lines('edit_file', { path: 'a', oldText: 'x\n'.repeat(30_000), newText: 'y' })).toHaveLength(30_001);
    expect([fileChangeOf('other', { path: 'a' }), fileChangeOf('edit_file', null)?.lines]).toEqual([undefined, []]);
  });

  it('C12: shows the final answer of a reached limit behind the note that says why the run writes it', () => {
    const limit = after([
      ['turn.started', { turn: 1 }],
      ['budget.reached', { turn: 1, action: 'ask', limit: '1 turns' }],
    ]);
    const messages = [TASK, message('m_1', 'assistant', [text('one')], 1), message('m_1_final', 'assistant', [text('the end')], 1)];
    expect(short(takeMessages(limit, messages, { isWhole: true }))).toEqual([
      'You: do it',
      '1: one',
      'note: Limit reached: 1 turns.',
      '1: the end',
    ]);
  });

  it('X20: an edit that changes every one of 12,500 lines takes little time, and is compared once', () => {
    const args = { path: 'a', oldText: 'a\n'.repeat(12_500), newText: 'b\n'.repeat(12_500) };
    const begun = process.cpuUsage();
    expect(lines('edit_file', args)).toHaveLength(25_000);
    expect(fileChangeOf('edit_file', args)).toBe(fileChangeOf('edit_file', args));
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1_000).toBeLessThan(500);
  });

  it('the plan is that of the last valid call, whatever a model sent', () => {
    expect(planOf([planned({ steps: [{ step: 'a', status: 'done' }, { step: 'b', status: 'odd' }, 7, null] })])).toEqual([
      { step: 'a', status: 'done' },
      { step: 'b', status: 'pending' },
    ]);
    expect(planOf([planned({ steps: [{ step: 'a', status: 'done' }] }, null, [], { steps: 'x' })])).toEqual([
      { step: 'a', status: 'done' },
    ]);
    expect(planOf([])).toEqual([]);
  });
});

/** The lines of the change that a call makes. */
function lines(name: string, args: Record<string, string>): string[] {
  return (fileChangeOf(name, args)?.lines ?? []).map((line) => `${line.kind} ${line.text}`);
}

/** A message with calls of `update_plan`. */
function planned(...plans: unknown[]): Message {
  const calls = plans.map((args, index): Part => ({ type: 'tool_call', callId: `c${index}`, name: 'update_plan', args: args as null }));
  return message('p', 'assistant', calls, 1);
}
