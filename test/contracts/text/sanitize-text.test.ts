import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPosition, escapeMarkdown, markdownCode, visibleText } from '../../../src/contracts/text/sanitize-text.js';

describe('escapeMarkdown', () => {
  it.each([
    ['a cell of its own', 'a | b', String.raw`a \| b`],
    ['a link', '[l](http://x)', String.raw`\[l\]\(http\://x\)`],
    ['a link written out', 'www.x.y', String.raw`www\.x\.y`],
    ['raw HTML', '<b>', String.raw`\<b\>`],
    ['a name that the Web UI fills in', '{workflowId}', String.raw`\{workflowId\}`],
    ['a dash', '--force', String.raw`\-\-force`],
    ['a formula', '$x$', '&#36;x&#36;'],
    ['a fraction, but no path', '1/2 a/b', '1&#47;2 a/b'],
    ['an entity', '&amp;', String.raw`\&amp;`],
  ])('%s is text: %s', (_name, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });

  it('nothing is lost, and every mark has its backslash, whatever the text is', () => {
    assert(
      property(string({ unit: 'grapheme' }), (text) => {
        const escaped = escapeMarkdown(text);
        const read = escaped.replaceAll('&#36;', '$').replaceAll('&#47;', '/');
        expect(read.replaceAll(/\\(.)/gsu, '$1')).toBe(text);
        expect(read.replaceAll(/\\./gsu, '')).not.toMatch(/[`|*_<>[\]{}]/u);
      }),
    );
  });
});

describe('markdownCode', () => {
  it('is code, which is copied exactly', () => {
    expect(markdownCode('{"callId":"c_1"}')).toBe('`{"callId":"c_1"}`');
  });

  it.each(['a ` b', 'a | b', 'a {runId} b', 'a {namespace} b', 'a {workflowId} b'])('what code cannot hold is escaped: %s', (text) => {
    expect(markdownCode(text)).toBe(escapeMarkdown(text));
  });
});

describe('visibleText', () => {
  it('shows U+202E and every other invisible character as an escape sequence, and keeps line breaks and tabs', () => {
    expect(visibleText('rm \u202Etxt.a\u202C \u200Bx\r\n\ty\u2028')).toBe('rm \\u202etxt.a\\u202c \\u200bx\\u000d\n\ty\\u2028');
    expect(visibleText('{\n  "a": "ä → 漢"\n}')).toBe('{\n  "a": "ä → 漢"\n}');
  });
});

describe('cutPosition', () => {
  it('is within the limit, and never between the halves of a surrogate pair', () => {
    expect([cutPosition('abc', 5), cutPosition('abc', 2), cutPosition('a🎉b', 2), cutPosition('a🎉b', 3), cutPosition('', 0)]).toEqual([
      3, 2, 1, 3, 0,
    ]);
  });
});
