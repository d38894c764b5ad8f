import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_LIMITS, CONTINUE_AS_NEW_LIMITS, STEER_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Receipt, SteerRecord } from '../../../src/contracts/schemas/run.js';
import { SIGNALS } from '../../../src/contracts/verbs/index.js';
import { readVerb } from '../../../src/contracts/verbs/verb.js';
import { Inbox } from '../../../src/workflows/state/inbox.js';
import { cpuMs } from '../../support/cpu-time.js';

/** What may happen to an inbox: messages, time, turns, a fresh history. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('send' as const),
    id: fc.integer({ min: 0, max: 40 }).map((n) => `m${n}`),
    text: fc.constantFrom('go on', 'stop', 'look again', ' '),
    mode: fc.constantFrom('boundary', 'preempt', 'interrupt', 'at once'),
    ttlMs: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('drain' as const), mode: fc.constantFrom('all' as const, 'one' as const) }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('carry' as const) }),
);

describe('Inbox', () => {
  it('whatever is sent, expires, is drained, carried over and closed: each accepted message ends in exactly one state, in the order sent', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { accepted, fresh, delivered, ends, inbox } = play(steps);
        expect(new Set(accepted).size).toBe(accepted.length);
        expect([...ends.keys()].filter((id) => !id.startsWith('refused#')).toSorted()).toEqual(accepted.toSorted());
        for (const states of ends.values()) expect(states).toHaveLength(1);
        expect(inbox.records()).toEqual([...ends.values()].flat());
        expect(delivered).toEqual(fresh.filter((id) => ends.get(id)?.[0]?.state === 'delivered'));
        const unread = inbox.peek().map(({ id }) => id);
        expect(unread).toEqual(fresh.filter((id) => ends.get(id)?.[0]?.state === 'unconsumed'));
        const targets = [...ends.values()].flat().flatMap(({ into }) => into ?? []);
        expect(fresh).toEqual(expect.arrayContaining(targets));
        expect(inbox.accepted).toBe(fresh.length);
      }),
    );
  });

  it('an id is known for as long as its message waits, however many come after it', () => {
    const inbox = new Inbox();
    for (let n = 0; n <= CONTINUE_AS_NEW_LIMITS.seenIdsMax + 10; n += 1) inbox.enqueue({ id: `m${n}`, text: `${n}` });
    expect(inbox.enqueue({ id: 'm0', text: 'x' })).toEqual({ id: 'm0', accepted: true, position: 0, duplicate: true });
  });

  it('an id that was delivered, merged or has expired is a duplicate for ever after, also in a fresh history', () => {
    const inbox = new Inbox();
    inbox.enqueue({ id: 'old', text: 'too late', ttlMs: 10 }, 0);
    inbox.drain('all', 20, 1);
    inbox.enqueue({ id: 'read', text: 'x' }, 20);
    inbox.enqueue({ id: 'again', text: 'x' }, 20);
    inbox.drain('all', 20, 2);
    const next = carriedOver(inbox);
    for (const id of ['old', 'read', 'again'])
      expect(next.enqueue({ id, text: 'y' }, 30)).toMatchObject({ accepted: true, duplicate: true });
    expect(next.length).toBe(0);
  });

  it('A9: two ids of more than 200 characters that begin alike are two messages, and each is known when it comes again', () => {
    const inbox = new Inbox();
    const ids = ['a', 'b'].map((end) => 'x'.repeat(300) + end);
    for (const id of ids) expect(send(inbox, { id, text: `text of ${id.at(-1)}` })).toMatchObject({ accepted: true, duplicate: false });
    for (const id of ids) expect(send(inbox, { id, text: 'again' })).toMatchObject({ duplicate: true });
    const kept = inbox.peek().map(idOf);
    expect(new Set(kept).size).toBe(2);
    for (const id of kept) expect(id.length).toBeLessThanOrEqual(CLIENT_LIMITS.idCharsMax);
  });

  it('ids that an execution of 0.1 carried over are known, as delivered', () => {
    const inbox = new Inbox({ inbox: [], seenIds: ['s1'], paused: false, steers: [], counters: { steers: 1 } });
    expect(inbox.enqueue({ id: 's1', text: 'x' })).toMatchObject({ duplicate: true });
    expect(inbox.records()).toEqual([{ id: 's1', state: 'delivered' }]);
  });

  it('remembers how the last 2,000 messages ended, and no more', () => {
    const inbox = new Inbox();
    for (let n = 0; n < CONTINUE_AS_NEW_LIMITS.seenIdsMax + 10; n += 1) {
      inbox.enqueue({ id: `m${n}`, text: 'x' });
      inbox.drain('all', 0, n);
    }
    const records = inbox.records();
    expect(records).toHaveLength(CONTINUE_AS_NEW_LIMITS.seenIdsMax);
    expect(records[0]).toEqual({ id: 'm10', state: 'delivered', turn: 10 });
  });

  it('C-11: with "one" a turn reads one message, with "all" every one', () => {
    expect(threeWaiting().drain('all').map(idOf)).toEqual(['a', 'b', 'c']);
    const inbox = threeWaiting();
    expect([inbox.drain('one'), inbox.drain('one'), inbox.drain('one'), inbox.drain('one')].map((turn) => turn.map(idOf))).toEqual([
      ['a'],
      ['b'],
      ['c'],
      [],
    ]);
  });

  it('C-11: with "one" a message that could not wait is read at once, with those that stand before it', () => {
    const inbox = threeWaiting();
    inbox.enqueue({ id: 'now', text: 'stop that', mode: 'preempt' });
    inbox.enqueue({ id: 'later', text: 'and then' });
    expect(inbox.drain('one').map(idOf)).toEqual(['a', 'b', 'c', 'now']);
    expect(inbox.preempting).toBe(false);
    expect(inbox.drain('one').map(idOf)).toEqual(['later']);
  });

  it('the same text right behind an unread one is merged into it: as urgent as the more urgent, unread for as long as the longer', () => {
    const inbox = new Inbox();
    inbox.enqueue({ id: 'a', text: 'stop', ttlMs: 10 }, 0);
    expect(inbox.enqueue({ id: 'b', text: 'stop', mode: 'interrupt', ttlMs: 50 }, 5)).toEqual({
      id: 'b',
      accepted: true,
      position: 0,
      duplicate: true,
    });
    expect(inbox.peek(5)).toEqual([{ id: 'a', text: 'stop', mode: 'interrupt', expiresAt: 55, directives: [] }]);
    inbox.enqueue({ id: 'c', text: 'go on' }, 5);
    expect(inbox.enqueue({ id: 'd', text: 'stop' }, 5)).toMatchObject({ position: 2, duplicate: false });
  });

  it('a message that nobody read in time is not delivered, and does not keep a run going', () => {
    const inbox = new Inbox();
    const told = tellings(inbox);
    inbox.enqueue({ id: 'a', text: 'quick', ttlMs: 10 }, Date.now() - 10);
    expect(inbox.length).toBe(0);
    expect(inbox.drain()).toEqual([]);
    expect(told).toEqual([{ id: 'a', state: 'expired' }]);
  });

  it('only a message that waits preempts or interrupts, and an interrupt is told at once', () => {
    const inbox = new Inbox();
    let interrupts = 0;
    inbox.onInterrupt = () => {
      interrupts += 1;
      return false;
    };
    inbox.enqueue({ id: 'a', text: 'at the boundary' });
    expect([inbox.preempting, inbox.interrupting, interrupts]).toEqual([false, false, 0]);
    inbox.enqueue({ id: 'b', text: 'skip the rest', mode: 'preempt' });
    expect([inbox.preempting, inbox.interrupting, interrupts]).toEqual([true, false, 0]);
    inbox.enqueue({ id: 'c', text: 'stop talking', mode: 'interrupt' });
    inbox.enqueue({ id: 'c', text: 'stop talking', mode: 'interrupt' });
    expect([inbox.preempting, inbox.interrupting, interrupts]).toEqual([true, true, 1]);
    inbox.drain();
    expect([inbox.preempting, inbox.interrupting]).toEqual([false, false]);
  });

  it('a message for which a model call was aborted does not expire before it is read; for one that found none its time goes on', () => {
    for (const [aborted, read] of [
      [true, ['now']],
      [false, []],
    ] as const) {
      const inbox = new Inbox();
      inbox.onInterrupt = () => aborted;
      inbox.enqueue({ id: 'now', text: 'stop', mode: 'interrupt', ttlMs: 10 }, 0);
      expect(inbox.drain('all', 20).map(idOf)).toEqual(read);
    }
  });

  it('a run of 0.1, which knows no modes, reads every message at the boundary', () => {
    const inbox = new Inbox();
    inbox.supportsModes = () => false;
    inbox.onInterrupt = () => expect.unreachable('the run knows no interrupt');
    inbox.enqueue({ id: 'a', text: 'now', mode: 'interrupt' });
    expect([inbox.preempting, inbox.interrupting, inbox.length]).toEqual([false, false, 1]);
  });

  it('what has no message in it is refused and recorded with its reason, under an id of its own', () => {
    const inbox = new Inbox();
    const told = tellings(inbox);
    send(inbox, undefined);
    const next = carriedOver(inbox);
    send(next, { id: 'mine', text: ' ' });
    expect(next.records()).toEqual([
      { id: 'refused#1', state: 'refused', reason: expect.stringContaining('EMPTY_MESSAGE') },
      { id: 'refused#2', state: 'refused', reason: expect.stringContaining('EMPTY_MESSAGE') },
    ]);
    expect(told).toHaveLength(1);
    expect(next.enqueue({ id: 'mine', text: 'something' })).toMatchObject({ accepted: true, duplicate: false });
  });

  it('A9, A15: a full inbox refuses what is new with INBOX_FULL, and takes it under the same id once there is room', () => {
    const inbox = limited();
    const told = tellings(inbox);
    for (let n = 0; n < STEER_LIMITS.unreadMax; n += 1) inbox.enqueue({ id: `m${n}`, text: `text ${n}` });
    expect(inbox.isFull).toBe(true);
    expect(inbox.enqueue({ id: 'late', text: 'too late' })).toEqual({ id: 'late', accepted: false, position: -1, duplicate: false });
    expect(told).toEqual([{ id: 'late', state: 'refused', reason: expect.stringContaining('INBOX_FULL') }]);
    expect(inbox.refusalOf({ id: 'late', text: 'too late' })).toContain('INBOX_FULL');
    expect(inbox.refusalOf({ id: 'm3', text: 'sent again' })).toBeUndefined();
    const next = limited(carriedOver(inbox));
    next.drain('all', 0, 1);
    expect(next.enqueue({ id: 'late', text: 'too late' })).toEqual({ id: 'late', accepted: true, position: 0, duplicate: false });
    expect(next.records().filter(({ id }) => id === 'late')).toEqual([{ id: 'late', state: 'queued' }]);
  });

  it('A9: an inbox is full by its texts too', () => {
    const inbox = limited();
    const text = 'x'.repeat(STEER_LIMITS.unreadCharsMax / 2);
    expect(inbox.enqueue({ id: 'a', text })).toMatchObject({ accepted: true });
    expect(inbox.enqueue({ id: 'b', text: `${text}y` })).toMatchObject({ accepted: false });
    expect(inbox.enqueue({ id: 'c', text: 'short' })).toMatchObject({ accepted: true });
  });

  it('what came before the run was prepared is cut to the limit, the newest first, and for runs of older versions it is not', () => {
    for (const limits of [true, false]) {
      const inbox = new Inbox();
      for (let n = 0; n < STEER_LIMITS.unreadMax + 50; n += 1) inbox.enqueue({ id: `m${n}`, text: `text ${n}` });
      inbox.limitsInbox = () => limits;
      inbox.refuseOverflow();
      expect(inbox.length).toBe(STEER_LIMITS.unreadMax + (limits ? 0 : 50));
      expect(inbox.peek()[0]).toMatchObject({ id: 'm0' });
      expect(inbox.records().filter(({ state }) => state === 'refused')).toHaveLength(limits ? 50 : 0);
    }
  });

  it('A15: a flood of refused messages is few events, few records, and forgets no other message', () => {
    const inbox = limited();
    const told = tellings(inbox);
    inbox.enqueue({ id: 'read', text: 'x' });
    inbox.drain('all', 0, 1);
    for (let n = 0; n < 10_000; n += 1) inbox.enqueue({ id: `m${n}`, text: `text ${n}` });
    for (let n = 0; n < 10_000; n += 1) inbox.refuseInput('EMPTY_MESSAGE: nothing');
    expect(told).toHaveLength(1 + STEER_LIMITS.refusalEventsMax);
    expect(told.at(-1)?.reason).toContain('no events');
    expect(inbox.records()).toHaveLength(1 + STEER_LIMITS.refusedKeptMax + STEER_LIMITS.unreadMax);
    expect(inbox.enqueue({ id: 'read', text: 'y' })).toMatchObject({ duplicate: true });
    const ids = carriedOver(inbox)
      .records()
      .map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('A15: 10,000 messages, and what waits ask after each, take less than a second', () => {
    const inbox = new Inbox();
    const before = cpuMs();
    let seen = 0;
    for (let n = 0; n < 10_000; n += 1) {
      inbox.enqueue({ id: `m${n}`, text: `text ${n}`, ttlMs: 60_000 + n, mode: 'preempt' });
      seen += inbox.length + Number(inbox.preempting) + inbox.directed.length;
    }
    expect(seen).toBe(10_000 + (10_000 * 10_001) / 2);
    expect(cpuMs() - before).toBeLessThan(1_000);
  });

  it('a hold is carried over, and so is its absence', () => {
    const inbox = new Inbox();
    expect(carriedOver(inbox).hold).toBeUndefined();
    inbox.hold = { until: 5, by: 'ann' };
    expect(carriedOver(inbox).hold).toEqual({ until: 5, by: 'ann' });
  });
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Plays the steps to the end of a run, and notes what was accepted, read, and told. */
function play(steps: readonly Step[]) {
  const ends = new Map<string, SteerRecord[]>();
  const listen = (inbox: Inbox): Inbox => {
    inbox.onSettled = (record) => ends.set(record.id, [...(ends.get(record.id) ?? []), record]);
    return inbox;
  };
  let inbox = listen(new Inbox());
  let now = 0;
  const accepted: string[] = [];
  const fresh: string[] = [];
  const delivered: string[] = [];
  for (const given of steps) {
    switch (given.kind) {
      case 'send': {
        const receipt = send(inbox, given, now);
        if (receipt.accepted && !accepted.includes(given.id)) accepted.push(given.id);
        if (receipt.accepted && !receipt.duplicate) fresh.push(given.id);
        break;
      }
      case 'drain':
        delivered.push(...inbox.drain(given.mode, now).map(idOf));
        break;
      case 'time':
        now += given.ms;
        break;
      case 'carry':
        inbox = listen(carriedOver(inbox));
    }
  }
  inbox.closeAll(now);
  inbox.closeAll(now + 100);
  return { accepted, fresh, delivered, ends, inbox };
}

/** Signal `steer` as the workflow handles it. */
function send(inbox: Inbox, input: unknown, now?: number): Receipt {
  const { value, fault } = readVerb(SIGNALS.steer, input, 'tolerant');
  return fault ? inbox.refuseInput(`${fault.code}: ${fault.message}`) : inbox.enqueue(value, now);
}

function carriedOver(inbox: Inbox): Inbox {
  return new Inbox({ ...inbox.carry(), counters: { steers: inbox.accepted } });
}

/** An inbox of a prepared run of this version. */
function limited(inbox = new Inbox()): Inbox {
  inbox.limitsInbox = () => true;
  return inbox;
}

function tellings(inbox: Inbox): SteerRecord[] {
  const told: SteerRecord[] = [];
  inbox.onSettled = (record) => told.push(record);
  return told;
}

function threeWaiting(): Inbox {
  const inbox = new Inbox();
  for (const id of ['a', 'b', 'c']) inbox.enqueue({ id, text: `text of ${id}` });
  return inbox;
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}
