import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inputRow } from '../../../src/cli/terminal/input-row.js';
import { Keyboard, type Pressed } from '../../../src/cli/terminal/keyboard.js';
import { editLine, NOTHING_TYPED, type Typed } from '../../../src/cli/terminal/line-editor.js';
import { columnsOf, lineColumns } from '../../../src/cli/terminal/styled-text.js';

function typedAt(text: string, cursor = text.length): Typed {
  return { text, cursor };
}

describe('a line that is typed', () => {
  it.each([
    ['insert', typedAt('ac', 1), { kind: 'insert', text: 'b' }, typedAt('abc', 2)],
    ['backspace deletes a whole emoji', typedAt('a👩‍👩‍👧'), { kind: 'backspace' }, typedAt('a')],
    ['left moves over a whole character', typedAt('e\u0301'), { kind: 'left' }, typedAt('e\u0301', 0)],
    ['right stops at the end', typedAt('a'), { kind: 'right' }, typedAt('a')],
    ['delete', typedAt('abc', 1), { kind: 'delete' }, typedAt('ac', 1)],
    ['a word', typedAt('one two '), { kind: 'delete-word' }, typedAt('one ')],
    ['all before the cursor', typedAt('abc', 2), { kind: 'delete-before' }, typedAt('c', 0)],
    ['all behind the cursor', typedAt('abc', 1), { kind: 'delete-behind' }, typedAt('a')],
    ['home', typedAt('abc'), { kind: 'home' }, typedAt('abc', 0)],
    ['end', typedAt('abc', 0), { kind: 'end' }, typedAt('abc')],
  ] as const)('%s', (_, before, edit, after) => {
    expect(editLine(before, edit)).toEqual(after);
  });

  it('a long line is moved so that its cursor is in the row', () => {
    const { line, before } = inputRow({ input: typedAt('你好'.repeat(30)), hint: '' }, 20);
    expect(lineColumns(line)).toBeLessThanOrEqual(20);
    expect(columnsOf(before)).toBeLessThan(20);
    expect(inputRow({ input: NOTHING_TYPED, hint: 'type' }, 20)).toMatchObject({ before: '> ' });
  });
});

describe('the keys of a terminal', () => {
  it('characters, keys and a pasted text with line breaks arrive one by one; unknown sequences are ignored', async () => {
    const pressed: Pressed[] = [];
    const written: string[] = [];
    const modes: boolean[] = [];
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => void modes.push(raw) });
    const keyboard = new Keyboard(input, (text) => void written.push(text), { onPressed: (each) => void pressed.push(each) });
    onTestFinished(() => keyboard.stop());
    keyboard.start();
    input.write('a你\u007f\u001b[D\u001b[5~\u0003\u0017\r');
    input.write('\u001b[200~two\r\nlines\u001b[201~');
    const expected: Pressed[] = [
      { kind: 'insert', text: 'a' },
      { kind: 'insert', text: '你' },
      { kind: 'backspace' },
      { kind: 'left' },
      { kind: 'interrupt' },
      { kind: 'delete-word' },
      { kind: 'enter' },
      { kind: 'insert', text: 'two\nlines' },
    ];
    await expect.poll(() => pressed).toEqual(expected);
    keyboard.stop();
    keyboard.stop();
    expect({ modes, written }).toEqual({ modes: [true, false], written: ['\u001b[?2004h', '\u001b[?2004l'] });
  });
});
