import { describe, expect, it } from 'vitest';
import { StreamText } from '../../../src/cli/display/token-stream.js';
import type { StreamEvent } from '../../../src/streams/stream.js';

type Body = { type: 'text'; text: string } | { type: 'reset' } | { type: 'end' } | { type: 'gap' } | { type: 'tool_call'; name: string };

/** What is shown of events given as [turn, attempt, body]. */
function play(...events: readonly (readonly [number, number, Body])[]): { shown: string; text: string } {
  const stream = new StreamText();
  let shown = '';
  for (const [seq, [turn, attempt, body]] of events.entries()) {
    const change = stream.take({ runId: 'r', turn, attempt, epoch: seq, seq, ...body } satisfies StreamEvent);
    if (change.kind === 'text') shown += change.text;
    if (change.kind === 'restart') shown += '<restart>';
  }
  return { shown, text: stream.text };
}

const text = (words: string): Body => ({ type: 'text', text: words });
const reset: Body = { type: 'reset' };
const end: Body = { type: 'end' };

describe('StreamText', () => {
  it('a second attempt drops what the first one said of the turn', () => {
    const { shown, text: kept } = play([1, 1, reset], [1, 1, text('half an ans')], [1, 1, end], [1, 2, reset], [1, 2, text('an answer')]);
    expect(shown).toBe('half an ans<restart>an answer');
    expect(kept).toBe('an answer');
  });

  it('a first attempt of another worker, after one that died without an end, drops it too', () => {
    expect(play([1, 1, reset], [1, 1, text('lost')], [1, 1, reset], [1, 1, text('new')]).shown).toBe('lost<restart>new');
  });

  it('the next turn starts afresh, and so does the final call of the same turn, without a word about restarting', () => {
    expect(play([1, 1, text('one')], [1, 1, end], [2, 1, reset], [2, 1, text('two')])).toEqual({ shown: 'onetwo', text: 'two' });
    expect(play([1, 1, text('one')], [1, 1, end], [1, 1, reset], [1, 1, text('final')])).toEqual({ shown: 'onefinal', text: 'final' });
  });

  it('late text of an earlier turn is not shown', () => {
    expect(play([2, 1, text('two')], [1, 1, text('late')], [2, 1, text('!')]).shown).toBe('two!');
  });

  it('a hole in the text is shown as one', () => {
    expect(play([1, 1, reset], [1, 1, text('one ')], [1, 1, { type: 'gap' }], [1, 1, text(' three')]).shown).toBe('one […] three');
  });

  it('a tool call that streams shows nothing by itself', () => {
    expect(play([1, 1, { type: 'tool_call', name: 'x' }]).shown).toBe('');
  });
});
