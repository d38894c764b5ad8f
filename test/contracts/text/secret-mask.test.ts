import { describe, expect, it } from 'vitest';
import { NO_SECRETS, SecretMask } from '../../../src/contracts/text/secret-mask.js';

const KEY = 'sk-live-0123456789"abc/def&x+y';
const MASK = new SecretMask(() => SECRETS);
const SECRETS = [
  { name: 'env:MY_KEY', value: KEY },
  { name: 'env:SHORT', value: 'seven77' },
];

describe('SecretMask', () => {
  it.each([
    ['plain', KEY],
    ['base64', Buffer.from(KEY).toString('base64').replace(/=+$/u, '')],
    ['base64url', Buffer.from(KEY).toString('base64url')],
    ['percent-encoded', encodeURIComponent(KEY)],
    ['percent-encoded in lower case', encodeURIComponent(KEY).replaceAll(/%../gu, (code) => code.toLowerCase())],
    ['JSON', JSON.stringify(KEY).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['JSON with escaped slashes', JSON.stringify(KEY).slice(1, -1).replaceAll('/', String.raw`\/`)],
    ['JSON for HTML', JSON.stringify(KEY).slice(1, -1).replaceAll('&', String.raw`\u0026`)],
  ])('finds a secret that is %s', (_, form) => {
    expect(MASK.text(`before ${form} after`)).not.toContain(form);
    expect(MASK.text(`before ${form} after`)).toContain('[secret env:MY_KEY]');
  });

  it.each([0, 1, 2, 3, 4])('finds a secret in base64 of a longer text, %i bytes after its start', (before) => {
    const encoded = Buffer.from(`${'u'.repeat(before)}${KEY}: more`).toString('base64');
    const shown = MASK.text(encoded);
    expect(shown).toContain('[secret env:MY_KEY]');
    expect(Buffer.from(shown.replace('[secret env:MY_KEY]', ''), 'base64').toString('latin1')).not.toContain('0123');
  });

  it.each([20, 21, 22, 23, 24, 25, 26, 27, 28])('finds a secret in base64 with line breaks after %i characters', (width) => {
    const encoded = Buffer.from(`export MY_KEY=${KEY}${'x'.repeat(200)}`)
      .toString('base64')
      .replaceAll(new RegExp(`.{${width}}`, 'gu'), '$&\r\n');
    expect(MASK.text(encoded)).toContain('[secret env:MY_KEY]');
  });

  it('a value under 8 characters is no secret', () => {
    expect(MASK.text('seven77')).toBe('seven77');
  });

  it('a value of 30 kB is replaced whole', () => {
    const long = Array.from({ length: 9_000 }, (_, index) => index.toString(36)).join('');
    const mask = new SecretMask(() => [{ name: 'file:/long', value: long }]);
    expect(mask.text(`<${long}>`)).toBe('<[secret file:/long]>');
  });

  it('masks the texts and keys of JSON, and returns the same value when there is nothing to mask', () => {
    expect(MASK.json({ [KEY]: [1, null, { deep: `x ${KEY}` }] })).toEqual({
      '[secret env:MY_KEY]': [1, null, { deep: 'x [secret env:MY_KEY]' }],
    });
    const value = { a: ['b', { c: true }] };
    expect(MASK.json(value)).toBe(value);
  });

  it('a secret that another secret begins with is replaced whole', () => {
    const mask = new SecretMask(() => NESTED);
    expect(mask.text('abcdefghij abcdefghijklm')).toBe('[secret env:A] [secret env:B]');
    const stream = mask.texts();
    expect(
      cut('x abcdefghijklm y', 1)
        .map((piece) => stream.push(piece))
        .join('') + stream.end(),
    ).toBe('x [secret env:B] y');
    const other = mask.texts();
    expect(
      cut('x abcdefghijk', 1)
        .map((piece) => other.push(piece))
        .join('') + other.end(),
    ).toBe('x [secret env:A]k');
  });

  it.each([1, 2, 3, 7, 64])('a secret cut across pieces of %i characters is replaced', (size) => {
    const forms = [KEY, Buffer.from(KEY).toString('base64'), encodeURIComponent(KEY)];
    const text = `start ${forms.join(' – ')} sk-live-01 end ü`;
    const stream = MASK.texts();
    const shown =
      cut(text, size)
        .map((piece) => stream.push(piece))
        .join('') + stream.end();
    expect(shown).toBe(MASK.text(text));
    const bytes = MASK.bytes();
    const encoded = Buffer.from(text);
    const pieces = Array.from({ length: Math.ceil(encoded.length / size) }, (_, at) => encoded.subarray(at * size, (at + 1) * size));
    expect(Buffer.concat([...pieces.map((piece) => bytes.push(piece)), bytes.end()]).toString()).toBe(MASK.text(text));
  });

  it('text that begins like no secret is shown at once', () => {
    const stream = MASK.texts();
    expect(stream.push('hello')).toBe('hello');
    expect(stream.push(' sk-')).toBe(' ');
    expect(stream.push('quite other')).toBe('sk-quite other');
  });

  it('most of a secret at the end of a text is masked as well', () => {
    const stream = MASK.texts();
    expect(stream.push(`x ${KEY.slice(0, 20)}`) + stream.end()).toBe('x [secret env:MY_KEY]');
  });

  it('a value that is added later is masked from then on', () => {
    let known = [{ name: 'a', value: 'first-value' }];
    const mask = new SecretMask(() => known);
    expect(mask.text('first-value second-value')).toBe('[secret a] second-value');
    known = [...known, { name: 'b', value: 'second-value' }];
    expect(mask.text('first-value second-value')).toBe('[secret a] [secret b]');
  });

  it('without secrets a text and a piece are passed on as they are', () => {
    const piece = Buffer.from('piece');
    expect(NO_SECRETS.bytes().push(piece)).toBe(piece);
    expect(NO_SECRETS.text(KEY)).toBe(KEY);
  });
});

const NESTED = [
  { name: 'env:A', value: 'abcdefghij' },
  { name: 'env:B', value: 'abcdefghijklm' },
];

function cut(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}
