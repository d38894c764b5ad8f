import { describe, expect, it } from 'vitest';
import { usePageFolder } from './support/page-folder.js';
import { codeBlocks, readPages } from './support/pages.js';

const BLOCKS = readPages('docs/quickstart.md').flatMap(codeBlocks);

/** From where a reader is in a folder of his own: the steps before it install, which `.ci/run` does on a clean clone. */
const STEPS = BLOCKS.slice(BLOCKS.findIndex(({ info }) => info === 'perdure.config.ts'));

describe('docs/quickstart.md', () => {
  const folder = usePageFolder();

  it('does what it says, step by step: runs are killed, and continue', async () => {
    let output = '';
    let compared = 0;
    for (const block of STEPS) {
      if (block.language === 'sh' && block.info === 'run') ({ output } = await folder.run(block.code));
      if (block.language === 'ts' || block.language === 'yaml') await folder.save(block);
      if (block.language !== 'text') continue;
      const lines = block.code.trim().split('\n');
      expect(lines.filter((line) => !spaced(output).includes(spaced(line)))).toEqual([]);
      compared += lines.length;
    }
    expect(compared).toBeGreaterThan(7);
  }, 240_000);

  it('has a step of each kind', () => {
    expect(STEPS.map(({ language }) => language)).toEqual(expect.arrayContaining(['ts', 'yaml', 'sh', 'text']));
    expect(STEPS.filter(({ language, info }) => language === 'sh' && info === 'run').length).toBeGreaterThan(5);
  });
});

/** Columns of a table are as wide as their widest cell. */
function spaced(text: string): string {
  return text.replaceAll(/ +/gu, ' ');
}
