import { array, assert, constantFrom, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Reply, readReply, type ThinkingMode } from '../../../../src/channels/reply/read-reply.js';

function read(text: string, thinking: ThinkingMode = 'suppressed', isOver = true): Reply {
  return readReply(text, { thinking, silentToken: 'NO_REPLY', isOver });
}

const pieces = constantFrom(
  'Hello ',
  '<think>',
  '</think>',
  '<THINKING>',
  '</thinking>',
  '[[reply_to_current]]',
  '[[reply_to: C1:17.1]]',
  '[[',
  ']]',
  '[link](http://x)',
  '`',
  '``',
  '```ts\n',
  '```\n',
  '~~~\n',
  '\n',
  '<',
  'NO_REPLY',
  'İstanbul ',
);
const texts = array(pieces, { maxLength: 20 }).map((parts) => parts.join(''));

describe('readReply', () => {
  it('C-36: the text of an answer that is not over is the beginning of the text of the whole answer', () => {
    assert(
      property(texts, nat(), constantFrom<ThinkingMode>('suppressed', 'separate', 'included'), (text, at, mode) => {
        const begun = read(text.slice(0, at % (text.length + 1)), mode, false).text;
        // what people see of a message that is only the silent token is nothing
        const whole = read(text, mode);
        expect(whole.isSilent ? begun.trim() === '' : whole.text.startsWith(begun)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('C-36: thinking is suppressed, separate, or included', () => {
    const text = '<think>Is it 4?</think>It is 4.';
    expect(read(text)).toMatchObject({ text: 'It is 4.', thinking: '' });
    expect(read(text, 'separate')).toMatchObject({ text: 'It is 4.', thinking: 'Is it 4?' });
    expect(read(text, 'included')).toMatchObject({ text: 'Is it 4?It is 4.', thinking: '' });
  });

  it('C-36: a tag that is split over two chunks is recognised', () => {
    for (const cut of [1, 3, 6]) expect(read('<think>secret'.slice(0, cut), 'suppressed', false).text).toBe('');
    expect(read('Yes.<think>secret</thi', 'suppressed', false).text).toBe('Yes.');
    expect(read('a < b', 'suppressed', false).text).toBe('a < b');
  });

  it('C-36: a tag inside code is text', () => {
    const fenced = 'Write:\n```html\n<think>x</think>\n```\nthen `<think>` again.';
    expect(read(fenced).text).toBe(fenced);
  });

  it('thinking without an end is thinking', () => {
    expect(read('Yes. <think>and then').text).toBe('Yes. ');
  });

  it('C-36: the silent token alone suppresses the message, and never shows its beginning', () => {
    expect(read(' NO_REPLY\n')).toMatchObject({ isSilent: true, text: '' });
    expect(read('NO_REP', 'suppressed', false).text).toBe('');
    expect(read('NO_REPLY is the token')).toMatchObject({ isSilent: false, text: 'NO_REPLY is the token' });
    expect(read('NO')).toMatchObject({ isSilent: false, text: 'NO' });
    expect(read('<think>nothing to say</think>NO_REPLY')).toMatchObject({ isSilent: true, text: '' });
  });

  it('a reply directive is taken out, and names the message that the answer replies to', () => {
    expect(read('[[reply_to_current]] Hello')).toMatchObject({ text: 'Hello', replyTo: 'current' });
    expect(read('Hello [[ reply_to: C1:17.1 ]]')).toMatchObject({ text: 'Hello ', replyTo: 'C1:17.1' });
    expect(read('Hello')).not.toHaveProperty('replyTo');
    expect(read('`[[reply_to_current]]` is a directive').text).toBe('`[[reply_to_current]]` is a directive');
    expect(read('Hi [[reply_to', 'suppressed', false).text).toBe('Hi ');
  });
});
