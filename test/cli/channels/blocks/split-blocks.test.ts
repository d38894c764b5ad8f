import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finishedEnd, splitBlocks } from '../../../../src/channels/blocks/split-blocks.js';

const SIZES = { charsMin: 40, charsMax: 120 };

/** Texts as models write them: paragraphs, lists, code with and without an end, long words, emoji, combining marks. */
const pieces = constantFrom(
  'A sentence. ',
  'Why? ',
  'word ',
  '- item\n',
  '\n',
  '\n\n',
  '\r\n',
  '```ts\n',
  '```\n',
  '~~~~ sh\n',
  '~~~~\n',
  '  ```\n',
  'const x = `1`;\n',
  '``',
  '`',
  'x'.repeat(90),
  '👩‍👩‍👧‍👦',
  '🇩🇪',
  'e\u0301\u0323',
  '日本語。',
  '    indented\n',
  `\`\`\`${'i'.repeat(30)}\n`,
);
const texts = array(pieces, { maxLength: 60 }).map((parts) => parts.join(''));
const sizes = record({ charsMin: integer({ min: 1, max: 150 }), charsMax: integer({ min: 100, max: 300 }) });

/** What people read of a text: without blanks, markers of code, and languages, which a fence that is opened again has twice. */
function words(text: string): string {
  return text.replaceAll(/[\s`~]/gu, '').replaceAll(/ts|sh|i/gu, '');
}

/** True if each fence of a text is closed. */
function isBalanced(text: string): boolean {
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const { marker = '', info = '' } = /^[ \t]{0,12}(?<marker>`{3,12}|~{3,12})(?![`~])(?<info>.*)$/u.exec(line.trimEnd())?.groups ?? {};
    if (open === undefined) open = marker === '' || (marker.startsWith('`') && info.includes('`')) ? undefined : marker;
    else if (info.trim() === '' && marker.startsWith(open)) open = undefined;
  }
  return open === undefined;
}

describe('splitBlocks', () => {
  it('the blocks have all words of the text in order, and none is longer than the limit', () => {
    assert(
      property(texts, sizes, (text, given) => {
        const blocks = splitBlocks(text, given);
        expect(words(blocks.map((block) => block.text).join('\n'))).toBe(words(text));
        expect(blocks.filter((block) => block.text.length > given.charsMax)).toEqual([]);
        expect(blocks.filter((block) => block.text.trim() === '')).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('each block closes the code fences that it opens', () => {
    assert(
      property(texts, sizes, (text, given) => {
        expect(splitBlocks(text, given).filter((block) => !isBalanced(block.text))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('the blocks of a text that is not over are the first ones of the whole text', () => {
    assert(
      property(texts, sizes, nat(), (text, given, at) => {
        const begun = splitBlocks(text.slice(0, at % (text.length + 1)), { ...given, isOver: false });
        expect(splitBlocks(text, given).slice(0, begun.length)).toEqual(begun);
      }),
      { numRuns: 500 },
    );
  });

  it('a text that is split again at the ends of its blocks has the same blocks', () => {
    assert(
      property(texts, sizes, nat(), (text, given, at) => {
        const blocks = splitBlocks(text, given);
        const ends = blocks.slice(0, at % (blocks.length + 1)).map(({ end }) => end);
        expect(splitBlocks(text, { ...given, ends })).toEqual(blocks);
      }),
    );
  });

  it('never ends a block inside a character', () => {
    const text = '👩‍👩‍👧‍👦'.repeat(100);
    const blocks = splitBlocks(text, SIZES);
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.every((block) => /^(?:👩‍👩‍👧‍👦)+$/u.test(block.text))).toBe(true);
    const zalgo = `${'a\u0301'.repeat(3)}e${'\u0323'.repeat(500)}`;
    expect(
      splitBlocks(zalgo, SIZES)
        .map((block) => block.text)
        .join(''),
    ).toBe(zalgo);
  });

  it('breaks at a paragraph, else at a line, a sentence, a space', () => {
    const first = 'p'.repeat(50);
    expect(textsOf(`${first}\n\nsecond\n\nthird`)).toEqual([first, 'second\n\nthird']);
    const line = 'l'.repeat(70);
    expect(textsOf(`${line}\n${line}`)).toEqual([line, line]);
    const sentence = `${'s'.repeat(60)}.`;
    expect(textsOf(`${sentence} ${sentence}`)).toEqual([sentence, sentence]);
    const word = 'w'.repeat(70);
    expect(textsOf(`${word} ${word}`)).toEqual([word, word]);
  });

  it('paragraphs that are shorter than the minimal size share a block', () => {
    expect(textsOf('One.\n\nTwo.\n\nThree.')).toEqual(['One.\n\nTwo.\n\nThree.']);
  });

  it('a code fence stays whole: a block ends before it, however short', () => {
    const code = `\`\`\`ts\n${'const x = 1;\n'.repeat(7)}\`\`\``;
    expect(textsOf(`Look at this piece of code:\n${code}\n\nDone.`)).toEqual(['Look at this piece of code:', code, 'Done.']);
  });

  it('a code fence that is longer than a block is closed, and reopened with its language', () => {
    const blocks = textsOf(`\`\`\`python\n${'print("hello")\n'.repeat(12)}\`\`\``);
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.every((block) => /^```python\n(?:print\("hello"\)\n)+```$/u.test(block))).toBe(true);
  });

  it('C-35: an answer that stopped arriving is sent up to its last finished sentence, and never inside code', () => {
    expect(finishedEnd('One. Two is not fin', SIZES)).toBe('One. '.length);
    expect(finishedEnd('All is said.', SIZES)).toBe('All is said.'.length);
    expect(finishedEnd('nothing is finished', SIZES)).toBeUndefined();
    expect(finishedEnd('Look:\n```ts\nconst x = 1;\n', SIZES)).toBeUndefined();
  });
});

function textsOf(text: string): string[] {
  return splitBlocks(text, SIZES).map((block) => block.text);
}
