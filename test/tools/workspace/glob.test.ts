import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../../src/tools/workspace/glob.js';

describe('compileGlob', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'deep/down/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/deep/down/a.ts', true],
    ['**', 'any/thing', true],
    ['src/**', 'src/any/thing', true],
    ['src/**', 'lib/any', false],
    ['**/test/**/*.{js,ts}', 'a/test/b/c.js', true],
    ['**/test/**/*.{js,ts}', 'a/test/b/c.md', false],
    ['{a,b{c,d}}.md', 'bd.md', true],
    ['./a.md', 'a.md', true],
    ['[a-c]?.md', 'b1.md', true],
    ['[a-c].md', '-.md', false],
    ['[!a-c].md', 'd.md', true],
    ['[!a-c].md', 'a.md', false],
    ['[x.md', '[x.md', true],
    ['\\*.md', '*.md', true],
    ['\\*.md', 'a.md', false],
    ['a+(b).md', 'a+(b).md', true],
  ])('%s on %s is %s', (glob, path, expected) => {
    expect(compileGlob(glob)(path)).toBe(expected);
  });

  test('a glob made to be slow ends: 200 stars over a long name, 2^100 alternatives', () => {
    expect(compileGlob(`${'*a'.repeat(200)}b`)('a'.repeat(5_000))).toBe(false);
    expect(compileGlob('{a,b}'.repeat(100))('a'.repeat(100))).toBe(false);
  });
});
