import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DROP_POLICIES, QUEUE_MODES } from '../../../src/contracts/constants/queue-modes.js';
import type { QueueMode } from '../../../src/contracts/schemas/session.js';
import { type QueuedSend, type QueueRules, SessionQueue } from '../../../src/workflows/session/session-queue.js';

const RULES: QueueRules = { mode: 'followup', cap: 20, drop: 'new', debounceMs: 500 };
const TAKES = { reportsRefusal: false, passes: false };

function message(id: string, mode?: QueueMode, at = 0): QueuedSend {
  return { id, parts: [{ type: 'text', text: `text of ${id}` }], ...(mode ? { mode } : {}), at, size: 10 };
}

/** A queue with these messages. */
function queueOf(rules: QueueRules, ...messages: readonly QueuedSend[]): SessionQueue {
  const queue = new SessionQueue();
  for (const each of messages) queue.accept(each, rules, TAKES);
  return queue;
}

const idsIn = (queue: SessionQueue): string[] => queue.waiting.map(({ id }) => id);
const taken = (queue: SessionQueue, rules = RULES): string[] => queue.takeBatch(rules).messages.map(({ id }) => id);

describe('the queue of a session', () => {
  it('C-04: a followup is a batch of its own; collect messages in a row are one batch', () => {
    const queue = queueOf(RULES, message('a', 'collect'), message('b', 'collect'), message('c'), message('d', 'collect'));
    expect(taken(queue)).toEqual(['a', 'b']);
    expect(taken(queue)).toEqual(['c']);
    expect(taken(queue)).toEqual(['d']);
  });

  it('C-04: an interrupt is answered next, and what waited stays behind it', () => {
    const queue = queueOf(RULES, message('a'), message('b'), message('now', 'interrupt'));
    expect(idsIn(queue)).toEqual(['now', 'a', 'b']);
    expect(queue.interrupting(RULES)?.id).toBe('now');
  });

  it('C-06: the debounce counts from the last collect message', () => {
    const queue = queueOf(RULES, message('a', 'collect', 1_000), message('b', 'collect', 1_400));
    expect(queue.next(RULES, 1_500)).toEqual({ kind: 'wait', ms: 400 });
    expect(queue.next(RULES, 1_900)).toEqual({ kind: 'batch' });
    expect(queueOf(RULES, message('a', undefined, 1_000)).next(RULES, 1_000)).toEqual({ kind: 'batch' });
  });

  it('C-06: a full queue of collect messages does not wait for more', () => {
    const rules = { ...RULES, cap: 2 };
    expect(queueOf(rules, message('a', 'collect', 1_000), message('b', 'collect', 1_000)).next(rules, 1_000)).toEqual({ kind: 'batch' });
  });

  it('C-06: at the cap, `new` refuses the message, and does not remember it', () => {
    const rules = { ...RULES, cap: 1 };
    const queue = queueOf(rules, message('a'));
    expect(queue.accept(message('b'), rules, TAKES)).toEqual({ id: 'b', accepted: false, position: -1, duplicate: false });
    expect(queue.dropped).toEqual([]);
    expect(taken(queue, rules)).toEqual(['a']);
    expect(queue.accept(message('b'), rules, TAKES)).toMatchObject({ accepted: true, duplicate: false });
  });

  it('C-06: at the cap, `new` reports a message without a receipt', () => {
    const rules = { ...RULES, cap: 1 };
    const queue = queueOf(rules, message('a'));
    queue.accept(message('b'), rules, { reportsRefusal: true, passes: false });
    expect(queue.dropped).toEqual([{ id: 'b', reason: 'the queue was full (1 messages)' }]);
    expect(queue.accept(message('b'), rules, TAKES)).toMatchObject({ accepted: false, duplicate: true });
  });

  it('C-06: at the cap, `old` drops the oldest message', () => {
    const rules = { ...RULES, cap: 2, drop: 'old' as const };
    const queue = queueOf(rules, message('a', undefined, 1), message('b', undefined, 2), message('c', undefined, 3));
    expect(idsIn(queue)).toEqual(['b', 'c']);
    expect(queue.dropped.map(({ id }) => id)).toEqual(['a']);
  });

  it('C-06: at the cap, `summarize` puts the beginnings of the oldest messages into one message to the agent', () => {
    const rules = { ...RULES, cap: 1, drop: 'summarize' as const };
    const queue = queueOf(rules, message('a', undefined, 1), message('b', undefined, 2), message('c', undefined, 3));
    expect(queue.takeBatch(rules)).toEqual({
      messages: [],
      parts: [{ type: 'text', text: '[2 messages were dropped because the queue was full. They began with:]\n- text of a\n- text of b' }],
    });
    expect(taken(queue, rules)).toEqual(['c']);
  });

  it('A-31: the text of an unchecked message never reaches a summary', () => {
    const rules = { ...RULES, cap: 1, drop: 'summarize' as const };
    const queue = queueOf(rules, { ...message('hostile'), unchecked: { content: 'hash' } }, message('b'));
    expect(queue.dropped.map(({ id }) => id)).toEqual(['hostile']);
    expect(taken(queue, rules)).toEqual(['b']);
  });

  it('of several interrupts, the newest one is next, and the earlier ones wait like any other, each at its time', () => {
    const queue = queueOf(
      RULES,
      message('a', undefined, 1),
      message('i1', 'interrupt', 2),
      message('b', undefined, 3),
      message('i2', 'interrupt', 4),
    );
    expect(queue.hasRivals(RULES)).toBe(true);
    queue.accept(message('i3', 'interrupt', 4), RULES, TAKES);
    queue.deferRivals(RULES);
    expect(queue.hasRivals(RULES)).toBe(false);
    expect(queue.list(RULES).map(({ id, mode }) => `${id} ${mode}`)).toEqual([
      'i3 interrupt',
      'a followup',
      'i1 followup',
      'b followup',
      'i2 followup',
    ]);
  });

  it('of several messages that became interrupts when the mode was known, the newest one is next too', () => {
    const interrupting = { ...RULES, mode: 'interrupt' as const };
    // accepted at one time, before the session was prepared
    const queue = queueOf(RULES, message('m1'), message('f', 'followup'), message('m2'), message('g', 'followup'));
    queue.deferRivals(interrupting);
    expect(queue.list(interrupting).map(({ id, mode }) => `${id} ${mode}`)).toEqual([
      'm2 interrupt',
      'm1 followup',
      'f followup',
      'g followup',
    ]);
  });

  it('messages that a run did not consume return before the others, but behind an interrupt', () => {
    const queue = queueOf(RULES, message('waits'), message('now', 'interrupt'));
    queue.putBack([message('x', 'steer'), message('y', 'steer')], RULES);
    expect(queue.list(RULES)).toEqual([
      { id: 'now', position: 0, mode: 'interrupt' },
      { id: 'x', position: 1, mode: 'followup' },
      { id: 'y', position: 2, mode: 'followup' },
      { id: 'waits', position: 3, mode: 'followup' },
    ]);
  });

  it('C-07: a withdrawn message alone leaves the queue', () => {
    const queue = queueOf(RULES, message('a'), message('b'));
    expect(queue.unsend('a')).toBe(true);
    expect(queue.unsend('a')).toBe(false);
    expect(idsIn(queue)).toEqual(['b']);
    expect(queue.dropped).toEqual([{ id: 'a', reason: 'unsent' }]);
  });

  it('a run takes a steer of text alone', () => {
    const file = { ...message('f', 'steer'), parts: [{ type: 'file' as const, mime: 'text/plain', ref: 'x' }] };
    const queue = queueOf(RULES, file, message('s', 'steer'));
    expect(queue.steering(RULES)?.id).toBe('s');
  });
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('send' as const), id: fc.nat(40), mode: fc.option(fc.constantFrom(...QUEUE_MODES)) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unsend' as const), id: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('return' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('carry' as const) }) },
);

describe('properties of the queue', () => {
  it('each accepted message leaves it exactly once, and those of one mode in the order of acceptance', () => {
    const rules = fc.record({
      mode: fc.constantFrom(...QUEUE_MODES),
      cap: fc.integer({ min: 1, max: 6 }),
      drop: fc.constantFrom(...DROP_POLICIES),
      debounceMs: fc.constant(0),
    });
    fc.assert(
      fc.property(rules, fc.array(step, { maxLength: 60 }), (given, steps) => {
        let queue = new SessionQueue();
        const accepted: string[] = [];
        const left: string[] = [];
        let last: readonly QueuedSend[] = [];
        const take = (): void => {
          last = queue.takeBatch(given).messages;
          left.push(...last.map(({ id }) => id));
        };
        for (const [at, each] of steps.entries()) {
          if (each.kind === 'send') {
            const receipt = queue.accept(message(`m${each.id}`, each.mode ?? undefined, at), given, TAKES);
            if (receipt.accepted && !receipt.duplicate) accepted.push(receipt.id);
          } else if (each.kind === 'unsend') queue.unsend(`m${each.id}`);
          else if (each.kind === 'take' && !queue.isEmpty) take();
          else if (each.kind === 'return' && last.length === 1) {
            queue.putBack(last, given);
            left.splice(-1);
            last = [];
          } else if (each.kind === 'carry') queue = new SessionQueue(structuredClone(queue.carry()));
          expect(queue.waiting.length).toBeLessThanOrEqual(given.cap + 1);
        }
        while (!queue.isEmpty) take();
        const dropped = queue.dropped.map(({ id }) => id);
        expect([...left, ...dropped].toSorted()).toEqual(accepted.toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('followups alone are answered in the order of their receipts', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1_000), { maxLength: 20 }), (ids) => {
        const queue = queueOf(RULES, ...ids.map((id, at) => message(String(id), undefined, at)));
        const left: string[] = [];
        while (!queue.isEmpty) left.push(...taken(queue));
        expect(left).toEqual(ids.map(String));
      }),
    );
  });
});
