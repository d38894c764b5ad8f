import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paragraphTokens } from '../../../src/cli/terminal/markdown-lexer.js';
import { markdownLines } from '../../../src/cli/terminal/markdown-lines.js';
import { MarkdownStream } from '../../../src/cli/terminal/markdown-stream.js';
import { paintLine } from '../../../src/cli/terminal/paint-line.js';
import { clipLine, columnsOf, lineColumns, plainLine, wrapLine } from '../../../src/cli/terminal/styled-text.js';
import { cpuMs } from '../../support/cpu-time.js';
import { foreignCodes } from './support/screen.js';

function shown(markdown: string, columns = 40): string[] {
  return markdownLines(markdown, columns).map((line) => paintLine(line, false));
}

describe('Markdown on a terminal', () => {
  it.each([
    [
      'a heading and a paragraph',
      '# Title\n\nText with **bold**, *italic*, `code` and ~~old~~.',
      ['Title', '', 'Text with bold, italic, code and old.'],
    ],
    ['a link shows its address', '[safe.org](https://evil.example/x)', ['safe.org (https://evil.example/x)']],
    ['an address that is its own text, once', '<https://example.org>', ['https://example.org']],
    ['an image', '![a chart](chart.png)', ['a chart (chart.png)']],
    ['a list with a nested one', '1. one\n2. two\n   - deep\n', ['1. one', '2. two', '   • deep']],
    [
      'an item that is broken keeps its indent',
      '- one two three four five six seven eight nine',
      ['• one two three four five six seven', '  eight nine'],
    ],
    ['tasks', '- [x] done\n- [ ] open', ['• [x] done', '• [ ] open']],
    ['code keeps its spaces, and no Markdown in it is read', '```js\nif (a)\n    **b**\n```', ['  if (a)', '      **b**']],
    ['a quote', '> one\n> two', ['│ one', '│ two']],
    ['a table', '| a | bb |\n|---|---|\n| 你好 | 1 |', ['a     bb', '────  ──', '你好  1']],
    ['a rule', '---', ['─'.repeat(40)]],
    ['HTML is text', '<b onclick="x">hi</b>\n\n<script>alert(1)</script>', ['<b onclick="x">hi</b>', '', '<script>alert(1)</script>']],
    ['entities, without a control character', 'a &lt; b &amp; c &#27;[31m &unknown;', ['a < b & c  &unknown;']],
  ])('%s', (_, markdown, lines) => {
    expect(shown(markdown)).toEqual(lines);
  });

  it('a table that is too wide is broken in its widest cells, and fits', () => {
    const lines = shown(`| key | text |\n|---|---|\n| a | ${'word '.repeat(20)}|`, 30);
    expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(30);
    expect(lines.join(' ').match(/word/gu)).toHaveLength(20);
  });

  it('whatever the text, nothing throws, no row is too wide, and no control character is written', () => {
    const pieces = fc.constantFrom(
      '# ',
      '- ',
      '1. ',
      '`',
      '```\n',
      '**',
      '_',
      '[a](',
      ')',
      '> ',
      '|',
      '---',
      '\n',
      '\n\n',
      '\t',
      '<b>',
      '&lt;',
      '\u001b[31m',
      '\u001b]0;x\u0007',
      '你',
      '👩‍👩‍👧',
      'e\u0301',
      '\u202e',
      'word ',
      'x'.repeat(50),
    );
    expect(() =>
      fc.assert(fc.property(fc.array(pieces, { maxLength: 30 }), fc.integer({ min: 30, max: 90 }), fits), { numRuns: 300 }),
    ).not.toThrow();
  });
});

describe('Markdown that arrives in parts', () => {
  it('a block is complete when the next one begins, and lines of code at once', () => {
    const stream = new MarkdownStream();
    expect(stream.take('# Title\n\nOne')).toEqual([{ markdown: '# Title', continues: false }]);
    expect(stream.take(' two.\n')).toEqual([]);
    expect(stream.take('\n```js\nlet a;\nlet')).toEqual([
      { markdown: 'One two.', continues: false },
      { markdown: '```js\nlet a;\n```', continues: false },
    ]);
    expect(stream.open).toEqual({ markdown: '```js\nlet', continues: true });
    expect(stream.take(' b;\n```\n')).toEqual([]);
    expect(stream.take('\nEnd.')).toEqual([{ markdown: '```js\nlet b;\n```', continues: true }]);
    expect(stream.end()).toEqual([{ markdown: 'End.', continues: false }]);
  });

  it('wherever it is cut, the same rows are shown as of the whole text', () => {
    expect(() => fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 }), isShownAsAWhole))).not.toThrow();
  });

  it('a block without an end is broken, so that what can still change stays small', () => {
    const stream = new MarkdownStream();
    const pieces = Array.from({ length: 400 }, () => stream.take('word '.repeat(20))).flat();
    expect(pieces.length).toBeGreaterThan(3);
    expect(stream.open.markdown.length).toBeLessThanOrEqual(8_000);
    const words = [...pieces, ...stream.end()]
      .map(({ markdown }) => markdown)
      .join('')
      .match(/word/gu);
    expect(words).toHaveLength(8_000);
  });
});

describe('Markdown that would take a lexer too long', () => {
  it.each([
    ['quotes in quotes', '> '.repeat(6_000)],
    ['lists in lists', '- '.repeat(6_000)],
    ['numbered lists in lists', '1. '.repeat(4_000)],
    ['marks of emphasis', '_a*'.repeat(6_000)],
    ['a line of a megabyte', 'word '.repeat(200_000)],
    ['a word of a megabyte', 'x'.repeat(1_000_000)],
    ['a line of a megabyte in a code block', `\`\`\`\n${'x'.repeat(1_000_000)}`],
    ['a first line of a code block of 8 kB', `\`\`\`${'x'.repeat(7_996)}\n${'y'.repeat(20_000)}`],
    ['emoji at each cut', '🎉'.repeat(20_000)],
  ])('%s: shown whole, as text, in a bounded time', (_, markdown) => {
    const started = cpuMs();
    const stream = new MarkdownStream();
    const pieces = [...stream.take(markdown), ...stream.end()];
    const text = pieces.flatMap((piece) => shown(piece.markdown, 80)).join('');
    expect(cpuMs() - started).toBeLessThan(20_000);
    expect(text.isWellFormed()).toBe(true);
    // the first line of a code block names its language
    const given = markdown.replace(/^```.*\n/u, '');
    expect(letters(text)).toBeGreaterThanOrEqual(letters(given));
    expect(shown(markdown.slice(0, 30_000), 80).length).toBeGreaterThan(0);
  });

  it('an ordinary text with many marks is still read as Markdown', () => {
    const paragraph = '**bold** and `a_b_c` _text_ '.repeat(40);
    expect(shown(Array.from({ length: 12 }, () => paragraph).join('\n\n')).join(' ')).not.toContain('**');
    expect(shown(Array.from({ length: 20 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'))[0]).toBe('• a');
  });
});

describe('without the package marked', () => {
  it('Markdown is split into paragraphs and the empty lines between them, and no character is lost', () => {
    expect(paragraphTokens('One\ntwo\n\n\nthree').map(({ type }) => type)).toEqual(['paragraph', 'space', 'space', 'paragraph']);
    expect(() => fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', '\n', ' ') }), hasAllText))).not.toThrow();
  });
});

describe('the width of text', () => {
  it.each([
    ['abc', 3],
    ['你好', 4],
    ['🎉', 2],
    ['👩‍👩‍👧', 2],
    ['e\u0301', 1],
    ['한글', 4],
    ['\u200b', 0],
    ['ｆｕｌｌ', 8],
  ])('%j takes %i columns', (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });

  it('a line is broken at spaces, and a word that is too long anywhere; wide characters are never halved', () => {
    expect(wrapLine(plainLine('aaa bbb ccc'), 7).map((line) => paintLine(line, false))).toEqual(['aaa bbb', 'ccc']);
    expect(wrapLine(plainLine('你好世界'), 5).map((line) => paintLine(line, false))).toEqual(['你好', '世界']);
    expect(paintLine(clipLine(plainLine('你好世界'), 6), false)).toBe('你好…');
  });
});

function fits(parts: readonly string[], columns: number): boolean {
  const lines = markdownLines(parts.join(''), columns);
  return lines.every((line) => lineColumns(line) <= columns && foreignCodes(paintLine(line, true)).replaceAll('\u200d', '') === '');
}

const TEXT = '# Title\n\nOne\ntwo.\n\n- a\n- b\n\n```js\nlet a;\n\nlet b;\n```\n\nLast.';

function isShownAsAWhole(sizes: readonly number[]): boolean {
  return rowsOf(TEXT, sizes).join('\n') === shown(TEXT).join('\n');
}

function rowsOf(text: string, sizes: readonly number[]): string[] {
  const stream = new MarkdownStream();
  const pieces = [];
  let at = 0;
  for (const size of [...sizes, text.length]) {
    pieces.push(...stream.take(text.slice(at, at + size)));
    at += size;
  }
  pieces.push(...stream.end());
  return pieces.flatMap(({ markdown, continues }, index) => {
    const lines = shown(markdown);
    return index > 0 && !continues && lines.length > 0 ? ['', ...lines] : lines;
  });
}

function hasAllText(text: string): boolean {
  return (
    paragraphTokens(text)
      .map(({ raw }) => raw)
      .join('') === text
  );
}

function letters(text: string): number {
  return text.match(/[a-z>*🎉]/gu)?.length ?? 0;
}
