import { array, assert, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrowingMarkdown } from '../../../../src/gateway/page/browser/content/growing-markdown.js';
import { readMarkdown } from '../../../../src/gateway/page/browser/content/markdown.js';

const TEXT = [
  '# Title',
  'A paragraph with **bold** text.\nIts second line.',
  '1. one\n\n2. two\n\n3. three',
  '```js\nlet a = 1;\n\nlet b = 2;\n```',
  '| a | b |\r\n|---|---|\r\n| 1 | 2 |',
  '> quoted',
  'The end.',
].join('\n\n');

describe('GrowingMarkdown', () => {
  it('reads the same blocks however the text arrives', () => {
    assert(
      property(array(nat(TEXT.length)), (cuts) => {
        const reader = new GrowingMarkdown();
        for (const cut of cuts.toSorted((a, b) => a - b)) reader.read(TEXT.slice(0, cut));
        expect(reader.read(TEXT)).toEqual(readMarkdown(TEXT));
      }),
    );
  });

  it('reads another text anew', () => {
    const reader = new GrowingMarkdown();
    reader.read('a\n\nb\n\nc\n\nd');
    expect(reader.read('other\n\ntext')).toEqual(readMarkdown('other\n\ntext'));
  });

  it('X20: does not parse closed blocks again: a text of 2,000 paragraphs that arrives in pieces takes less than a second', () => {
    const text = 'A *paragraph* of `text`.\n\n'.repeat(2_000);
    expect(lexingMs(text, 250)).toBeLessThan(1_000);
  });

  it('X20: waits between two parses: 10 KB of open emphasis in pieces of 50 characters takes less than a second', () => {
    expect(lexingMs('*a '.repeat(3_400), 50)).toBeLessThan(1_000);
  });
});

/** CPU time for a text that arrives in pieces, one for each frame of 16 ms. */
function lexingMs(text: string, pieceChars: number): number {
  let waitedMs = 0;
  let lexedMs = 0;
  const reader = new GrowingMarkdown(() => waitedMs + lexedMs + cpuMs() - begun);
  let begun = cpuMs();
  for (let end = pieceChars; end < text.length + pieceChars; end += pieceChars) {
    waitedMs += 16;
    begun = cpuMs();
    if (reader.pauseMs > 0 && end < text.length) continue;
    reader.read(text.slice(0, end));
    lexedMs += cpuMs() - begun;
    begun = cpuMs();
  }
  return lexedMs;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
