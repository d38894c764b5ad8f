import { describe, expect, it } from 'vitest';
import { usePageFolder } from './support/page-folder.js';
import { codeBlocks, readPages } from './support/pages.js';

const TESTS = readPages('docs/guides/test-crashes.md')
  .flatMap(codeBlocks)
  .filter(({ info }) => info.endsWith('.test.mjs'));

describe('docs/guides/test-crashes.md', () => {
  const folder = usePageFolder();

  it('has a test of many crashes, of a request, and of one crash', () => {
    const names = ['everywhere', 'wire', 'crash'];
    expect(TESTS.map(({ info }) => info)).toEqual(names.map((name) => `${name}.test.mjs`));
  });

  it.each(TESTS)(
    '$info passes in the folder of the quickstart example',
    async (block) => {
      await folder.copyExample('quickstart');
      await folder.save(block);
      const { output } = await folder.run(`node --test ${block.info}`);
      expect(output).toMatch(/pass 1\b/u);
      expect(output).toMatch(/fail 0\b/u);
    },
    360_000,
  );
});
