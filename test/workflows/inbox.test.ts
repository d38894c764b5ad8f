import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTINUE_AS_NEW_LIMITS } from '../../src/contracts/limits.js';
import { Inbox, readSteer } from '../../src/workflows/inbox.js';

describe('Inbox', () => {
  it('whatever is sent, drained and carried over: each id is delivered once, in the order accepted', () => {
    const step = fc.oneof(
      fc.record({ send: fc.integer({ min: 0, max: 30 }).map((n) => `m${n}`) }),
      fc.constant({ drain: true }),
      fc.constant({ carry: true }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let inbox = new Inbox();
        const accepted: string[] = [];
        const delivered: string[] = [];
        for (const given of steps) {
          if ('send' in given && !inbox.enqueue({ id: given.send, text: 'x' }).duplicate) accepted.push(given.send);
          if ('drain' in given) delivered.push(...inbox.drain().map(({ id }) => id));
          if ('carry' in given) inbox = carriedOver(inbox);
        }
        delivered.push(...inbox.drain().map(({ id }) => id));
        expect(delivered).toEqual(accepted);
        expect(new Set(delivered).size).toBe(delivered.length);
        expect(inbox.accepted).toBe(accepted.length);
      }),
    );
  });

  it('an id is known for as long as its message waits, however many come after it', () => {
    const inbox = new Inbox();
    for (let n = 0; n <= CONTINUE_AS_NEW_LIMITS.seenIdsMax + 10; n += 1) inbox.enqueue({ id: `m${n}`, text: 'x' });
    expect(inbox.enqueue({ id: 'm0', text: 'x' })).toEqual({ id: 'm0', accepted: true, position: 0, duplicate: true });
  });

  it('B3: text is made well-formed, and an id is cut to what ids may be', () => {
    expect(readSteer({ text: '\ud800a\u0000', id: 'i'.repeat(500) })).toEqual({ text: '\ufffda\u2400', id: 'i'.repeat(200) });
    expect(readSteer('plain text')).toEqual({ text: 'plain text' });
  });

  it.each([
    ['nothing', undefined, 'EMPTY_MESSAGE'],
    ['null', null, 'EMPTY_MESSAGE'],
    ['a number', 7, 'EMPTY_MESSAGE'],
    ['an object without text', { id: 'a' }, 'EMPTY_MESSAGE'],
    ['white space', { text: ' \n\t' }, 'EMPTY_MESSAGE'],
    ['more than a mebibyte', { text: 'é'.repeat(600_000) }, 'MESSAGE_TOO_LARGE'],
  ])('%s is no message', (_, input, code) => {
    expect(readSteer(input)).toMatchObject({ problem: expect.stringContaining(code) });
    expect(new Inbox().enqueue(input)).toMatchObject({ accepted: false });
  });
});

function carriedOver(inbox: Inbox): Inbox {
  return new Inbox({ ...inbox.carry(), counters: { steers: inbox.accepted } });
}
