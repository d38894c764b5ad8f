import { describe, expect, it } from 'vitest';
import { usePageFolder } from './support/page-folder.js';
import { codeBlocks, readPages } from './support/pages.js';

const TESTS = readPages('docs/guides/test-agents.md')
  .flatMap(codeBlocks)
  .filter(({ info }) => info.endsWith('.test.mjs'));

describe('docs/guides/test-agents.md', () => {
  const folder = usePageFolder();

  it('has a test of an agent, one of a crash, and one of many', () => {
    expect(TESTS.map(({ info }) => info)).toEqual(['agent.test.mjs', 'crash.test.mjs', 'everywhere.test.mjs']);
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
    120_000,
  );
});
