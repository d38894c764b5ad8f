import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliFolder, type CommandEnd } from '../support/cli.js';

const SAVED = fileURLToPath(new URL('../../workflows/histories/0.1-max-turns.json', import.meta.url));

let folder: CliFolder;
beforeAll(async () => {
  folder = await CliFolder.make();
});
afterAll(() => folder.remove());

function replay(...args: string[]): Promise<CommandEnd> {
  return folder.run(['replay', ...args]);
}

/** The saved history with another activity where the model was called. */
async function changedHistory(): Promise<string> {
  const text = await readFile(SAVED, 'utf8');
  const file = join(folder.path, 'changed.json');
  await writeFile(file, text.replaceAll('"callModel"', '"askTheOracle"'));
  return file;
}

describe('perdure replay', () => {
  it('a saved history that the present code still follows: says so, exit 0', async () => {
    expect(await replay(SAVED)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/0\.1-max-turns\.json: replays \(\d+ events\)\n$/u),
    });
  });

  it('a history that the present code does not follow: names the difference, exit 1, the others are still replayed', async () => {
    const { code, stdout, stderr } = await replay('--json', await changedHistory(), SAVED);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const [changed, kept] = JSON.parse(stdout) as { problem?: string }[];
    expect(changed?.problem).toMatch(/askTheOracle|callModel|[Nn]ondeterminism/u);
    expect(kept).not.toHaveProperty('problem');
  });

  it.each([
    ['no such file', 'missing.json', undefined],
    ['no JSON', 'text.json', 'not JSON'],
    ['no history', 'other.json', '{"a":1}'],
  ])('%s: one line HISTORY, exit 2', async (_, name, content) => {
    const file = join(folder.path, name);
    if (content !== undefined) await writeFile(file, content);
    expect(await replay(file)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^HISTORY: [^\n]+\n$/u) });
  });
});
