import { describe, expect, it } from 'vitest';
import { shortenLargestResult } from '../../../../src/workflows/policies/compaction/shorten-result.js';
import { task, toolGroup, words } from '../support/transcripts.js';

describe('shortenLargestResult', () => {
  it('C-18: the largest result is cut to both its ends, wherever it stands; all else is untouched', () => {
    const messages = [task(), ...toolGroup('a', words(10_000)), ...toolGroup('b', `${words(50_000)}the end`)];
    const shortened = shortenLargestResult(messages);
    expect(shortened?.messages.slice(0, 4)).toEqual(messages.slice(0, 4));
    const text = JSON.stringify(shortened?.messages[4]);
    expect(text).toContain('word0 word1');
    expect(text).toContain('the end');
    expect(text).toContain('[48007 characters left out');
    expect(shortened?.bytesBefore).toBeGreaterThan(50_000);
    expect(shortened?.bytesAfter).toBeLessThan(2_200);
  });

  it('C-18: again and again it takes the next largest, until none is large', () => {
    let messages: ReturnType<typeof toolGroup> = [task(), ...toolGroup('a', words(10_000)), ...toolGroup('b', words(9_000))];
    for (let round = 0; round < 2; round += 1) messages = [...(shortenLargestResult(messages)?.messages ?? [])];
    expect(JSON.stringify(messages).length).toBeLessThan(6_000);
    expect(shortenLargestResult(messages)).toBeUndefined();
  });

  it('C-18: without a large result there is nothing to shorten', () => {
    expect(shortenLargestResult([task(words(50_000)), ...toolGroup('a', words(2_000))])).toBeUndefined();
  });

  it('pictures become a mark, and the reference of an artifact stays', () => {
    const ref = `sha256:${'0a'.repeat(32)}`;
    const [call, result] = toolGroup('a', words(5_000));
    const parts = [
      { type: 'file' as const, mime: 'image/png', dataBase64: 'A'.repeat(100_000) },
      { type: 'artifact' as const, ref, bytes: 1_000_000, head: 'begin' },
    ];
    const messages = [
      task(),
      call ?? task(),
      { ...(result ?? task()), parts: [{ type: 'tool_result' as const, callId: 'a_0', isError: false, parts }] },
    ];
    expect(shortenLargestResult(messages)?.messages[2]?.parts).toEqual([
      { type: 'tool_result', callId: 'a_0', isError: false, parts: [{ type: 'text', text: '[image/png left out]' }, parts[1]] },
    ]);
  });
});
