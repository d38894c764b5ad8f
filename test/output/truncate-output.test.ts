import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedOutput } from '../../src/output/bounded-output.js';
import { completeBounds, fitsBounds, formatBytes, measureOutput, truncateOutput } from '../../src/output/truncate-output.js';

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

describe('truncateOutput', () => {
  test('a text within its bounds stays as it is', () => {
    expect(truncateOutput('a\nb', { bytesMax: 3, linesMax: 2, charsMax: 100_000, keep: 'head' })).toEqual({
      text: 'a\nb',
      truncated: false,
    });
  });

  test('keep head shows whole first lines and the sizes', () => {
    const { text, truncated } = truncateOutput(numbered(100), { bytesMax: 10_000, linesMax: 12, charsMax: 100_000, keep: 'head' });
    expect(truncated).toBe(true);
    expect(text).toBe(`${numbered(10)}[output cut: 792 bytes in 100 lines; shown: the first 10 lines (71 bytes)]`);
  });

  test('keep tail shows whole last lines', () => {
    const { text } = truncateOutput(numbered(100), { bytesMax: 10_000, linesMax: 4, charsMax: 100_000, keep: 'tail' });
    expect(text).toBe('[…]\nline 99\nline 100\n[output cut: 792 bytes in 100 lines; shown: the last 2 lines (17 bytes)]');
  });

  test('keep head-tail shows both ends and marks the gap', () => {
    const { text } = truncateOutput(numbered(100), { bytesMax: 10_000, linesMax: 6, charsMax: 100_000, keep: 'head-tail' });
    expect(text.split('\n').slice(0, 5)).toEqual(['line 1', 'line 2', '[…]', 'line 99', 'line 100']);
  });

  test('one endless line is cut inside, never inside a character', () => {
    const { text } = truncateOutput('ü€😀'.repeat(5_000), { bytesMax: 1_000, linesMax: 10, charsMax: 100_000, keep: 'head-tail' });
    expect(text).not.toContain('\uFFFD');
    expect(text.startsWith('ü€😀')).toBe(true);
    expect(text).toContain('ü€😀\n[output cut:');
  });

  test('whatever the text, the result stays within its bounds, and cutting it again changes nothing', () => {
    const bounds = fc.record({
      bytesMax: fc.integer({ min: 800, max: 2_000 }),
      charsMax: fc.integer({ min: 800, max: 2_000 }),
      linesMax: fc.integer({ min: 5, max: 50 }),
      keep: fc.constantFrom('head' as const, 'tail' as const, 'head-tail' as const, 'auto' as const),
    });
    const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\n'), fc.constant('x'.repeat(400))), { maxLength: 60 });
    fc.assert(
      fc.property(text, bounds, (pieces, limit) => {
        const cut = truncateOutput(pieces.join(''), limit);
        const size = measureOutput(cut.text);
        expect(size.bytes).toBeLessThanOrEqual(limit.bytesMax);
        expect(size.lines).toBeLessThanOrEqual(limit.linesMax);
        expect(cut.text.length).toBeLessThanOrEqual(limit.charsMax);
        expect(cut.text.isWellFormed()).toBe(true);
        expect(truncateOutput(cut.text, limit).text).toBe(cut.text);
      }),
    );
  });

  test('B-27: over 50 KB the end stays, from the beginning of a line, and the footer gives the sizes and where the whole is', () => {
    const text = numbered(20_000);
    const cut = truncateOutput(text, completeBounds(), { whole: 'full output: read_artifact {"ref":"sha256:00"}' }).text;
    expect(cut).toMatch(/^\[…\]\nline \d+\n/u);
    expect(cut).toMatch(
      /\nline 20000\n\[output cut: 204\.0 KiB in 20000 lines; shown: the last 1998 lines \(.* KiB\); full output: read_artifact \{"ref":"sha256:00"\}\]$/u,
    );
  });

  test.each([
    ['an error', `${numbered(3_000)}TypeError: x is not a function\n`],
    ['a summary', `${numbered(3_000)}3 tests failed, 9 passed\n`],
    ['the closing of JSON', `{"rows": [\n${numbered(3_000)}]}\n`],
  ])('C-25: both ends stay when the end looks important: %s', (_, text) => {
    const shown = truncateOutput(text, completeBounds()).text.split('\n');
    expect(shown[0]).toBe(text.split('\n')[0]);
    expect(shown).toContain('[…]');
    expect(shown.at(-2)).toBe(text.trimEnd().split('\n').at(-1));
  });

  test('A-22: over 1,200 characters the first 700, a marker with the number of dropped ones, and the last 260 stay', () => {
    const bounds = { ...completeBounds(), exact: { above: 1_200, head: 700, tail: 260 } };
    const text = Array.from({ length: 5_000 }, (_, at) => String(at % 10)).join('');
    const [head, marker, tail] = truncateOutput(text, bounds).text.split('\n');
    expect(head).toBe(text.slice(0, 700));
    expect(marker).toContain('4040 characters dropped');
    expect(tail).toBe(text.slice(-260));
    expect(truncateOutput(text.slice(0, 1_200), bounds)).toEqual({ text: text.slice(0, 1_200), truncated: false });
  });

  test('A-22: a character of two halves at the border is kept whole or dropped whole', () => {
    const bounds = { ...completeBounds(), exact: { above: 1_200, head: 701, tail: 261 } };
    const { text } = truncateOutput('😀'.repeat(2_000), bounds);
    expect(text.isWellFormed()).toBe(true);
    expect(text.match(/😀/gu)?.length).toBe(350 + 130);
  });

  test('D-08: a window of a model however small leaves a result 2,000 characters', () => {
    const bounds = completeBounds({ bytesMax: 51_200, linesMax: 2_000, charsMax: 10, keep: 'head' });
    expect(fitsBounds('x'.repeat(2_000), bounds)).toBe(true);
    const { text } = truncateOutput('x'.repeat(2_001), bounds);
    expect(text).toContain('[output cut: 2.0 KiB in 1 lines');
    expect(text.length).toBeLessThanOrEqual(2_000);
  });

  test('sizes read as a person writes them', () => {
    expect([512, 1_536, 10 * 1_024 * 1_024].map(formatBytes)).toEqual(['512 bytes', '1.5 KiB', '10.0 MiB']);
  });
});

describe('BoundedOutput', () => {
  test('what fits comes back byte for byte, whatever the chunks', () => {
    const text = 'grün 😀\n'.repeat(20);
    const output = new BoundedOutput(1_000);
    for (const byte of Buffer.from(text)) output.append(Buffer.from([byte]));
    expect(output.text().text).toBe(text);
    expect(output.complete).toBe(true);
  });

  test('of 50 MB the first and last lines are kept, with the size of all', () => {
    const output = new BoundedOutput(1_000);
    output.append(Buffer.from('the beginning\n'));
    const chunk = Buffer.from('0123456789abcde\n'.repeat(4_096));
    for (let at = 0; at < 800; at += 1) output.append(chunk);
    output.append(Buffer.from('the end'));
    const { text, size } = output.text();
    expect(text.startsWith('the beginning\n0123')).toBe(true);
    expect(text.endsWith('cde\nthe end')).toBe(true);
    expect(size).toEqual({ bytes: 14 + 800 * 65_536 + 7, lines: 3_276_802 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_000);
  });

  test('terminal colours are removed', () => {
    const output = new BoundedOutput(1_000);
    output.append(Buffer.from('\u001B[31mred\u001B[0m\n'));
    expect(output.text().text).toBe('red\n');
    expect(output.lastLine()).toBe('red');
  });
});
