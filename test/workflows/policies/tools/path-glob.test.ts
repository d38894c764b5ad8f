import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from '../../../../src/tools/workspace/glob.js';
import { globMatches } from '../../../../src/workflows/policies/tools/path-glob.js';
import { cpuMs } from '../../../support/cpu-time.js';

describe('globMatches', () => {
  it.each([
    ['*.ts', 'src/a/b.ts', true],
    ['src/*.ts', 'src/a/b.ts', false],
    ['src/**', 'src', true],
    ['src/**/b.ts', 'src/b.ts', true],
    ['.git/**', '.git/hooks/pre-commit', true],
    ['.git/**', 'a/.git/config', false],
    ['?.ts', 'ab.ts', false],
    ['**', 'any/thing', true],
  ])('%s means %s: %s', (glob, path, means) => {
    expect(globMatches(glob, path)).toBe(means);
  });

  it("means what the workspace tools' globs mean, for every glob of *, ?, ** and plain names", () => {
    const glob = fc
      .array(fc.constantFrom('a', 'b', '*', '?', '**', '/', '.'), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join(''));
    const path = fc.array(fc.constantFrom('a', 'b', '/', '.'), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(glob, path, (one, other) => {
        expect(globMatches(one, other)).toBe(compileGlob(one)(other));
      }),
      { numRuns: 3_000 },
    );
  });

  it('takes a moment for a glob made to be slow', () => {
    const startedAt = cpuMs();
    expect(globMatches(`${'*a'.repeat(50)}b`, 'a'.repeat(2_000))).toBe(false);
    expect(cpuMs() - startedAt).toBeLessThan(1_000);
  });
});
