import { describe, expect, it } from 'vitest';
import { AttemptOrder } from '../../src/streams/attempt-order.js';
import type { StreamEvent } from '../../src/streams/stream.js';
import { attempt, other, shown, text } from './support/stream-events.js';

/** What a source yields of events that are stored in this order, at the positions 1, 2, 3 and so on. */
function order(events: readonly StreamEvent[], after?: string) {
  const reader = new AttemptOrder(after);
  const skipped = Number(reader.position ?? 0);
  return events.slice(skipped).flatMap((event, index) => reader.take(event, String(skipped + index + 1)));
}

const texts = (events: readonly StreamEvent[]): string[] => events.flatMap((event) => (event.type === 'text' ? event.text : []));

const LATER = { epoch: 2_000 };

describe('AttemptOrder', () => {
  it('gives an attempt as it is', () => {
    const events = attempt(['a', 'b']);
    expect(order(events)).toEqual(events.map((event) => ({ ...event, id: expect.any(String) })));
  });

  it('gives merged text, of which it knows both ends, without a gap', () => {
    const merged: StreamEvent = { ...text(4, 'abc'), type: 'text', text: 'abc', firstSeq: 2 };
    expect(shown(order([other(1, 'reset'), merged, text(5, 'd')]))).toBe('<reset>abcd');
    expect(shown(order([other(1, 'reset'), { ...merged, firstSeq: 3 }, text(5, 'd')]))).toBe('<reset><gap>abcd');
  });

  it('two connections that send the same events are read as one', () => {
    const [a, b, c, d, e] = attempt(['b', 'c', 'd']) as [StreamEvent, StreamEvent, StreamEvent, StreamEvent, StreamEvent];
    for (const events of [
      [a, b, a, b, c, d, c, d, e],
      [a, a, b, b, c, c, d, d, e, e],
      [a, b, c, a, b, c, d, e, d, e],
    ])
      expect(shown(order(events))).toBe('<reset>bcd<end>');
  });

  it('a reader that resumes at any entry, also at a reset or gap that was added, gets the rest', () => {
    const events = [...attempt(['a']), text(4, 'b', LATER), text(4, 'b', LATER), text(2, 'old'), text(9, 'c', LATER)];
    const all = order(events);
    expect(shown(all)).toBe('<reset>a<end><reset><gap>b<gap>c');
    // an entry that was added comes again, because the event behind it does
    for (const [index, { id }] of all.entries()) expect(texts(order(events, id))).toEqual(texts(all.slice(index + 1)));
  });

  it('has no position without an id, or with one of another form', () => {
    for (const after of [undefined, '', 'x', '1:2', '1:2:3:4', '1:-2:3', ':2:3']) expect(new AttemptOrder(after).position).toBeUndefined();
    expect(new AttemptOrder('17-3:1000:2').position).toBe('17-3');
  });
});
