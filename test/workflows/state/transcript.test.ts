import { describe, expect, it } from 'vitest';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { Transcript } from '../../../src/workflows/state/transcript.js';

function transcriptOf(count: number, chars: number): Transcript {
  const transcript = new Transcript();
  const messages = Array.from(
    { length: count },
    (_, index): Message => ({
      id: `m${index}`,
      role: 'user',
      parts: [{ type: 'text', text: 'x'.repeat(chars) }],
    }),
  );
  transcript.load(messages);
  return transcript;
}

describe('query transcript', () => {
  it.each([undefined, 'x', Number.NaN, Number.POSITIVE_INFINITY, 10 ** 9])('a page asked for with %s bytes is bounded', (bytesMax) => {
    const page = transcriptOf(100, 10_000).page({ from: 0, bytesMax: bytesMax as number });
    expect(page.messages.length).toBeGreaterThan(0);
    expect(JSON.stringify(page.messages).length).toBeLessThanOrEqual(PAYLOAD_LIMITS.outsideBytesMax);
  });

  it('what replaces all messages is counted anew, and keeps the hashes of what stays', () => {
    const transcript = transcriptOf(10, 400);
    const kept = transcript.messages.slice(0, 2);
    const before = transcript.carry().transcript.slice(0, 2);
    transcript.replaceAll(kept);
    expect(transcript.length).toBe(2);
    expect(transcript.tokens).toBe(200);
    expect(transcript.carry().transcript).toEqual(before);
    expect(transcript.reference().tail).toEqual([]);
  });
});
