import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandEnd } from '../support/cli.js';
import { commandHere } from '../support/command-here.js';

const SAVED = fileURLToPath(new URL('../../workflows/histories/0.1-max-turns.json', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-test-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function replay(...args: string[]): Promise<CommandEnd> {
  return commandHere('replay', ...args);
}

/** The saved history with another activity where the model was called. */
async function changedHistory(): Promise<string> {
  const text = await readFile(SAVED, 'utf8');
  const file = join(folder, 'changed.json');
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

  it('every saved history replays', async () => {
    const saved = (await readdir(dirname(SAVED))).filter((file) => file.endsWith('.json')).map((file) => join(dirname(SAVED), file));
    const { code, stdout } = await replay(...saved);
    expect(stdout.trimEnd().split('\n')).toEqual(saved.map((file) => expect.stringMatching(`^${file}: replays \\(\\d+ events\\)$`)));
    expect(code).toBe(0);
  });

  it('a history that the present code does not follow: names the difference, exit 1, the others are still replayed', async () => {
    const { code, stdout } = await replay('--json', await changedHistory(), SAVED);
    expect(code).toBe(1);
    const [changed, kept] = JSON.parse(stdout) as { problem?: string }[];
    expect(changed?.problem).toMatch(/askTheOracle|callModel|[Nn]ondeterminism/u);
    expect(kept).not.toHaveProperty('problem');
  });

  it.each([
    ['no such file', 'missing.json', undefined],
    ['no JSON', 'text.json', 'not JSON'],
    ['no history', 'other.json', '{"a":1}'],
  ])('%s: one line HISTORY, exit 2', async (_, name, content) => {
    const file = join(folder, name);
    if (content !== undefined) await writeFile(file, content);
    expect(await replay(file)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^HISTORY: [^\n]+\n$/u) });
  });
});
