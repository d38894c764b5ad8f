import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedOutput } from '../../../src/activities/tools/bounded-output.js';
import { formatBytes, measureOutput, truncateOutput } from '../../../src/activities/tools/truncate-output.js';

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

describe('truncateOutput', () => {
  test('a text within its bounds stays as it is', () => {
    expect(truncateOutput('a\nb', { bytesMax: 3, linesMax: 2, keep: 'head' })).toEqual({ text: 'a\nb', truncated: false });
  });

  test('keep head shows whole first lines and the sizes', () => {
    const { text, truncated } = truncateOutput(numbered(100), { bytesMax: 10_000, linesMax: 12, keep: 'head' });
    expect(truncated).toBe(true);
    expect(text).toBe(`${numbered(10)}[output cut: 792 bytes in 100 lines; shown: the first 10 lines (71 bytes)]`);
  });

  test('keep tail shows whole last lines', () => {
    const { text } = truncateOutput(numbered(100), { bytesMax: 10_000, linesMax: 4, keep: 'tail' });
    expect(text).toBe('[…]\nline 99\nline 100\n[output cut: 792 bytes in 100 lines; shown: the last 2 lines (17 bytes)]');
  });

  test('keep head-tail shows both ends and marks the gap', () => {
    const { text } = truncateOutput(numbered(100), { bytesMax: 10_000, linesMax: 6, keep: 'head-tail' });
    expect(text.split('\n').slice(0, 5)).toEqual(['line 1', 'line 2', '[…]', 'line 99', 'line 100']);
  });

  test('one endless line is cut inside, never inside a character', () => {
    const { text } = truncateOutput('ü€😀'.repeat(5_000), { bytesMax: 1_000, linesMax: 10, keep: 'head-tail' });
    expect(text).not.toContain('\uFFFD');
    expect(text.startsWith('ü€😀')).toBe(true);
    expect(text).toContain('ü€😀\n[output cut:');
  });

  test('whatever the text, the result stays within its bounds, and cutting it again changes nothing', () => {
    const bounds = fc.record({
      bytesMax: fc.integer({ min: 300, max: 2_000 }),
      linesMax: fc.integer({ min: 5, max: 50 }),
      keep: fc.constantFrom('head' as const, 'tail' as const, 'head-tail' as const),
    });
    const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\n'), fc.constant('x'.repeat(400))), { maxLength: 60 });
    fc.assert(
      fc.property(text, bounds, (pieces, limit) => {
        const cut = truncateOutput(pieces.join(''), limit);
        const size = measureOutput(cut.text);
        expect(size.bytes).toBeLessThanOrEqual(limit.bytesMax);
        expect(size.lines).toBeLessThanOrEqual(limit.linesMax);
        expect(truncateOutput(cut.text, limit).text).toBe(cut.text);
      }),
    );
  });

  test('sizes read as a person writes them', () => {
    expect([512, 1_536, 10 * 1_024 * 1_024].map(formatBytes)).toEqual(['512 bytes', '1.5 KiB', '10.0 MiB']);
  });
});

describe('BoundedOutput', () => {
  const bounds = { bytesMax: 1_000, linesMax: 1_000, keep: 'head-tail' } as const;

  test('what fits comes back byte for byte, whatever the chunks', () => {
    const text = 'grün 😀\n'.repeat(20);
    const output = new BoundedOutput(bounds);
    for (const byte of Buffer.from(text)) output.append(Buffer.from([byte]));
    expect(output.text()).toBe(text);
  });

  test('of 50 MB the first and last lines are kept, with the size of all', () => {
    const output = new BoundedOutput(bounds);
    output.append(Buffer.from('the beginning\n'));
    const chunk = Buffer.from('0123456789abcde\n'.repeat(4_096));
    for (let at = 0; at < 800; at += 1) output.append(chunk);
    output.append(Buffer.from('the end'));
    const text = output.text();
    expect(text.startsWith('the beginning\n0123')).toBe(true);
    expect(text).toContain('cde\nthe end\n[output cut: 50.0 MiB in 3276802 lines;');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
  });

  test('terminal colours are removed', () => {
    const output = new BoundedOutput(bounds);
    output.append(Buffer.from('\u001B[31mred\u001B[0m\n'));
    expect(output.text()).toBe('red\n');
    expect(output.lastLine()).toBe('red');
  });
});
