import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { terminalJson, terminalLine, terminalText } from '../../../src/cli/display/terminal-text.js';
import { cpuMs } from '../../support/cpu-time.js';

/** Characters that could make a terminal do anything but show text. */
function dangerous(text: string): string[] {
  return Array.from(text).filter((character) => /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(character));
}

describe('terminalText', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['cursor movement', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a window title', '\u001b]0;owned\u0007text', 'text'],
    ['the clipboard (OSC 52)', 'x\u001b]52;c;ZXZpbA==\u001b\\y', 'xy'],
    ['a link', '\u001b]8;;http://evil\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['one-byte CSI and OSC', '\u009b31mred\u009d0;t\u009cx', 'redx'],
    ['a device control string', '\u001bPq#0\u001b\\z', 'z'],
    ['backspace and carriage return', 'safe\b\b\b\bevil\rx', 'safeevilx'],
    ['text turned around', 'a\u202egpj.exe', 'agpj.exe'],
    ['a sequence without an end, whose text is shown with the escape written out', 'a\u001b]52;c;abc\nb', 'a\\u001b]52;c;abc\nb'],
    ['a one-byte sequence without an end', 'a\u009d0;b\nc', 'a\\u009d0;b\nc'],
    ['a string that ends behind a line break', 'a\u001b]0;b\nc\u0007d', 'a\\u001b]0;b\ncd'],
    ['a colour without an end', 'a\u001b[31', 'a\\u001b[31'],
    ['a character set, a reset and a lone end', 'a\u001b(B\u001bc\u001b\\b', 'ab'],
    ['Windows line ends', 'a\r\nb', 'a\nb'],
  ])('B39: %s does not reach the terminal', (_name, given, shown) => {
    expect(terminalText(given)).toBe(shown);
  });

  it('keeps plain text of every script, line breaks and tabs', () => {
    const text = 'Grüße\t日本語\n🦜 👩‍👩‍👧 עברית';
    expect(terminalText(text)).toBe(text);
  });

  it('a sequence split over two pieces loses its control characters in each', () => {
    expect(dangerous(terminalText('a\u001b') + terminalText(']52;c;ZXZpbA==\u0007b'))).toEqual([]);
    expect(terminalText('a\u001b') + terminalText(']0;b')).toBe('a\\u001b]0;b');
  });

  it('no input whatever lets a control character through, in linear time', () => {
    const pieces = [
      '\u001b',
      '\u001b[',
      '\u001b]52;c;',
      '\u009b',
      '\u009d',
      '\u0007',
      '\u009c',
      '\u001b\\',
      '31m',
      'a',
      ' ',
      '\n',
      '\u202e',
    ];
    const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(''));
    expect(() =>
      fc.assert(fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (text) => dangerous(terminalText(text)).length === 0)),
    ).not.toThrow();
    const started = cpuMs();
    terminalText('\u001b]'.repeat(200_000) + '\u001b['.repeat(200_000) + '\u009d'.repeat(200_000) + '\u009b'.repeat(200_000));
    expect(cpuMs() - started).toBeLessThan(20_000);
  });
});

describe('terminalLine', () => {
  it('is one line', () => {
    expect(terminalLine(' a\n\tb\u001b[1m  c ')).toBe('a b c');
  });
});

describe('terminalJson', () => {
  it('is the same value, without a control character in it', () => {
    const value = { text: 'a\u001b]0;t\u0007\u009b31m\u2028\u007f', list: [1, null] };
    const json = terminalJson(value);
    expect(JSON.parse(json)).toEqual(value);
    expect(dangerous(json)).toEqual([]);
    expect(json).not.toContain('\n');
  });
});
