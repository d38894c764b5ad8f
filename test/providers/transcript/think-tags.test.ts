import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TaggedPiece, ThinkTags } from '../../../src/providers/transcript/think-tags.js';
import { cpuMs } from '../../support/cpu-time.js';

/** What comes of an answer that arrives in these chunks. */
function readAll(chunks: readonly string[], tag = 'think'): { readonly text: string; readonly thinking: string } {
  const tags = new ThinkTags(tag);
  const pieces: TaggedPiece[] = [...chunks.flatMap((chunk) => tags.add(chunk)), ...tags.end()];
  let text = '';
  let thinking = '';
  for (const piece of pieces) {
    if (piece.type === 'text') text += piece.text;
    else if (piece.type === 'thinking') thinking += piece.text;
    else [text, thinking] = ['', thinking + text];
  }
  return { text, thinking };
}

const FENCE = '```';

describe('ThinkTags', () => {
  it('X32: an endless run of blanks, one at a time, is read in a moment: it would hold up the whole worker', () => {
    const startedAt = cpuMs();
    expect(readAll(Array<string>(100_000).fill('\n')).text).toHaveLength(100_000);
    expect(cpuMs() - startedAt).toBeLessThan(500);
  });

  it.each<[string, string, { text: string; thinking: string }]>([
    ['thinking before an answer, without the blanks around it', '<think>\nHm.\n</think>\n\nYes.', { text: 'Yes.', thinking: 'Hm.\n' }],
    ['blanks before the first tag', '\n <think>Hm.</think>Yes.', { text: 'Yes.', thinking: 'Hm.' }],
    ['more than one thought', 'So <think>a</think>be <think>b</think>it.', { text: 'So be it.', thinking: 'ab' }],
    ['what is not closed as thinking', '<think>Hm. And', { text: '', thinking: 'Hm. And' }],
    ['the beginning of a tag at the end as text', 'a <thi', { text: 'a <thi', thinking: '' }],
    ['the beginning of a closing tag at the end as thinking', '<think>a </thi', { text: '', thinking: 'a </thi' }],
    ['other tags as text', 'a <b>c</b> < d', { text: 'a <b>c</b> < d', thinking: '' }],
    ['a closing tag that comes first: the prompt opened it', 'Hm.</think>\nYes.', { text: 'Yes.', thinking: 'Hm.' }],
    ['a later closing tag with nothing open as text', '<think>a</think>b</think>c', { text: 'b</think>c', thinking: 'a' }],
    ['an opening tag within thinking as thinking', '<think>a<think>b</think>c', { text: 'c', thinking: 'a<think>b' }],
    ['an answer of blanks as it is', ' \n', { text: ' \n', thinking: '' }],
    ['blanks after nothing but thinking as nothing', '<think>a</think>\n', { text: '', thinking: 'a' }],
    ['an empty thought as none', '<think>\n\n</think>\n\nYes.', { text: 'Yes.', thinking: '' }],
    ['code within thinking, finished or not', `<think>\`a ${FENCE}\n</think>b`, { text: 'b', thinking: `\`a ${FENCE}\n` }],
  ])('tells %s', (_, answer, parts) => {
    expect(readAll([answer])).toEqual(parts);
  });

  it.each([
    ['a code span', 'Write `<think>` first.'],
    ['a span of more backticks', 'Write ``a ` <think> b`` first.'],
    ['a span of three backticks', `${FENCE}<think>${FENCE} first.`],
    ['a fence', `${FENCE}html\n<think>\n${FENCE}\n`],
    ['a fence of tildes', '~~~\n<think>\n~~~\n'],
    ['an indented fence', `  ${FENCE}\n<think>\n  ${FENCE}\n`],
    ['a fence with a shorter one in it', `\`\`\`\`\n${FENCE}\n<think>\n\`\`\`\`\n`],
    ['a fence with another opening in it', `${FENCE}\n${FENCE}js\n<think>\n${FENCE}\n`],
    ['a fence that never ends', `${FENCE}\n<think>x</think>`],
  ])('C-36: a tag in %s is text', (_, code) => {
    const answer = `So:\n${code}`;
    expect(readAll([answer])).toEqual({ text: answer, thinking: '' });
  });

  it.each([
    ['a fence', `${FENCE}\n<a>\n${FENCE}\n`],
    ['a span', '`<a>` '],
    ['a line with a single backtick', 'it`s\n'],
    ['tildes in the middle of a line', 'a ~~~ b '],
  ])('C-36: a tag after %s is a tag', (_, before) => {
    expect(readAll([`x\n${before}<think>hm</think>y`])).toEqual({ text: `x\n${before}y`, thinking: 'hm' });
  });

  it('takes the tag that it is given, and no other', () => {
    expect(readAll(['<reasoning>a</reasoning>b<think>c'], 'reasoning')).toEqual({ text: 'b<think>c', thinking: 'a' });
  });

  it('shows text at once that cannot become a tag', () => {
    const tags = new ThinkTags('think');
    expect(tags.add('So a < b')).toEqual([{ type: 'text', text: 'So a < b' }]);
    expect(tags.add(' and <')).toEqual([{ type: 'text', text: ' and ' }]);
    expect(tags.add('think>hm')).toEqual([{ type: 'thinking', text: 'hm' }]);
    expect(tags.add(' </')).toEqual([{ type: 'thinking', text: ' ' }]);
    expect(tags.add('b')).toEqual([{ type: 'thinking', text: '</b' }]);
  });

  const PIECES = ['<think>', '</think>', '<', '/', 'think', '>', '`', '``', FENCE, '~~~', '\n', ' ', '   ', 'a', 'js', 'ü😀'];
  const answers = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(''));
  const cuts = fc.array(fc.nat(200), { maxLength: 40 });

  it('C-36: gives the same parts in whatever chunks an answer comes', () => {
    fc.assert(
      fc.property(answers, cuts, (answer, places) => {
        expect(readAll(cutAt(answer, places))).toEqual(readAll([answer]));
      }),
      { numRuns: 3_000 },
    );
  });

  it('loses nothing but tags and blanks, and makes nothing up', () => {
    fc.assert(
      fc.property(answers, cuts, (answer, places) => {
        const { text, thinking } = readAll(cutAt(answer, places));
        expect(lettersOf(text + thinking)).toBe(lettersOf(answer));
      }),
      { numRuns: 1_000 },
    );
  });
});

function cutAt(answer: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (answer.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, answer.length].map((end, index, all) => answer.slice(all[index - 1] ?? 0, end));
}

/** The letters of the pieces that are no part of a tag, in an order that thinking does not change. */
function lettersOf(text: string): string {
  return (text.match(/[ajsü😀]/gu) ?? []).toSorted().join('');
}
