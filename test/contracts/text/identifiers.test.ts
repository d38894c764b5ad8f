import { describe, expect, it } from 'vitest';
import { identifiersIn } from '../../../src/contracts/text/identifiers.js';

describe('identifiersIn', () => {
  it.each([
    'https://example.com/a/b?c=d#e',
    's3://bucket/key',
    '/etc/hosts',
    './run.sh',
    '../up/there',
    'src/workflows/state/run.ts',
    'notes/todo.md',
    'package.json',
    'a1b2c3d',
    `sha256:${'0a'.repeat(32)}`,
    '123e4567-e89b-12d3-a456-426614174000',
    'ABC-123',
    '#4711',
    'order_12345',
  ])('finds %s in a sentence, without what stands around it', (name) => {
    expect(identifiersIn(`Look at "${name}", please. It is (${name}).`)).toEqual([name]);
  });

  it('ordinary words are none', () => {
    expect(identifiersIn('Either and/or both: the e.g. well-known state-of-the-art thing. 12345 or 3.14 or decade')).toEqual([]);
  });

  it('each is there once, in the order in which they were named last', () => {
    expect(identifiersIn('/a/b then /c/d then /a/b')).toEqual(['/c/d', '/a/b']);
  });

  it('of a long text both ends are looked at, and no half of a path is taken', () => {
    const text = `/first/one ${'x'.repeat(1_980)} /cut/${'in/the/middle/'.repeat(200)}end.ts ${'y'.repeat(900)} /last/one`;
    expect(identifiersIn(text)).toEqual(['/first/one', '/last/one']);
  });
});
