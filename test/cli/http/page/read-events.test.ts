import { array, assert, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventReader } from '../../../../src/gateway/page/browser/api/read-events.js';

const STREAM = [
  'retry: 1000',
  'id: a\nevent: text.delta\ndata: {"text":"one\u2028two\u2029"}',
  ':',
  'id: b\nevent: result\ndata: {"x":"a\\n\\nb"}',
  '',
].join('\n\n');

describe('EventReader', () => {
  it('reads the same events however the text is cut, and no comment', () => {
    assert(
      property(array(nat(STREAM.length)), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];
        const reader = new EventReader();
        const events = places.slice(1).flatMap((end, index) => reader.read(STREAM.slice(places[index], end)));
        expect(events).toEqual([
          { id: 'a', type: 'text.delta', data: { text: 'one\u2028two\u2029' } },
          { id: 'b', type: 'result', data: { x: 'a\n\nb' } },
        ]);
      }),
    );
  });

  it('does not yield an event that is cut off', () => {
    expect(new EventReader().read('id: a\nevent: text.delta\ndata: {"text"')).toEqual([]);
  });
});
