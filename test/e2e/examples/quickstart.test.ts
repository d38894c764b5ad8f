import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { useExample } from './support/example-folder.js';

describe('the quickstart', () => {
  const example = useExample('quickstart');

  it('ends with a finished run that fixed a copy of the sample, without any key', async () => {
    const { stdout, stderr } = await example.start();
    expect(stdout).toContain('Fixed ticket 7');
    expect(stderr).toMatch(/completed after 6 turns/u);
    expect(stderr.trim().split('\n').slice(-3)).toEqual([
      'new: examples/quickstart/playground/CHANGES.md',
      'changed: examples/quickstart/playground/price.mjs',
      'changed: examples/quickstart/playground/price.test.mjs',
    ]);
    expect(await fixed('playground')).toBe(true);
    expect(await fixed('workspace')).toBe(false);
  });

  async function fixed(copy: string): Promise<boolean> {
    return (await readFile(example.path(copy, 'price.mjs'), 'utf8')).includes('pieces >= DISCOUNT_FROM');
  }
});
