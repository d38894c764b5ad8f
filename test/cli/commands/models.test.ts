import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatModels } from '../../../src/cli/commands/models.js';
import { formatPrice, formatThinking, formatTokens } from '../../../src/cli/display/model-columns.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { listKnownModels } from '../../../src/worker/config/list-models.js';
import { CliFolder } from '../support/cli.js';

const KEY = { ANTHROPIC_API_KEY: 'k-anthropic-1' };
const COLUMNS_MAX = 100;

let folder: CliFolder;
beforeAll(async () => {
  folder = await CliFolder.make();
});
afterAll(async () => {
  await folder.remove();
});

describe('perdure models', () => {
  it('lists the models that can be called, and says what it left out', async () => {
    const { code, stdout, stderr } = await folder.run(['models'], KEY);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^MODEL +WINDOW +OUT +\$ IN \/ OUT +THINKING +SUPPORTS\nanthropic\//u);
    expect(stdout).toMatch(/\nanthropic\/claude-haiku-4-5 +200k +64k +\$1 \/ \$5 +off-high +tools images\n/u);
    expect(stdout).toMatch(/\nPROVIDER +KEY\nanthropic +ANTHROPIC_API_KEY\n/u);
    expect(stdout).not.toContain('openai/');
    expect(stderr).toMatch(/^prices in USD per million tokens, as of \d{4}-\d{2}-\d{2}/u);
    expect(stderr).toMatch(/\nnot shown, no configured key or address: \d+ models of \d+ providers; list them with --all\n/u);
    expect(stdout + stderr).not.toContain('k-anthropic-1');
  });

  it('--json prints one document, --all has every provider', async () => {
    const { stdout } = await folder.run(['models', 'gpt-5.1', '--all', '--json'], KEY);
    const list = z.object({ asOf: z.string(), providers: z.array(z.unknown()), models: z.array(z.unknown()) }).parse(JSON.parse(stdout));
    expect(list.models).toMatchObject([
      { model: 'openai/gpt-5.1', callable: false, price: { input: 1.25, output: 10 } },
      { model: 'openai-responses/gpt-5.1', callable: false },
    ]);
    expect(list.providers).toMatchObject([
      { name: 'openai', callable: false, problem: 'SECRET_MISSING env:OPENAI_API_KEY' },
      { name: 'openai-responses' },
    ]);
  });

  it('what fits only models without a key is counted, and nothing stands on stdout', async () => {
    const { code, stdout, stderr } = await folder.run(['models', 'gpt-5.1'], KEY);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^not shown, no configured key or address: 2 models of 2 providers; list them with --all\n/u);
  });

  it('a provider without a key is told the variable that would have it', async () => {
    const { stdout } = await folder.run(['models', 'gpt-5.1', '--all'], KEY);
    expect(stdout).toMatch(/\nopenai +no OPENAI_API_KEY\n/u);
  });

  it('models and providers of the config are listed', async () => {
    const mine = await CliFolder.make();
    const config = {
      providers: { mine: { api: 'openai-chat', baseUrl: 'https://models.example/v1' } },
      prices: { 'mine/big': { input: 1, output: 2 } },
    };
    await writeFile(join(mine.path, 'perdure.config.json'), JSON.stringify(config));
    const { stdout } = await mine.run(['models', '--provider', 'mine']);
    expect(stdout).toMatch(/\nmine\/big +\? +\? +\$1 \/ \$2 +\? +tools\? images\?\n/u);
    expect(stdout).toMatch(/\nmine +not required\n/u);
    await mine.remove();
  });

  it.each([
    [['models', 'claude-sonet-5'], 3, 'UNKNOWN_MODEL: no known model matches "claude-sonet-5" (did you mean claude-sonnet-5?)\n'],
    [
      ['models', 'ollama'],
      3,
      'UNKNOWN_MODEL: the catalog has no models of "ollama"; query its server with: perdure models --provider ollama --ask\n',
    ],
    [['models', '--provider', 'anthropik'], 2, 'UNKNOWN_PROVIDER: unknown provider "anthropik" (did you mean anthropic?)'],
    [['models', '--al'], 2, 'UNKNOWN_OPTION: --al (did you mean --all?)'],
  ])('%j exits %i with the nearest name, or with what to type', async (args, code, line) => {
    const end = await folder.run(args, KEY);
    expect({ code: end.code, stdout: end.stdout }).toEqual({ code, stdout: '' });
    expect(end.stderr).toContain(line);
  });
});

describe('the table of models', () => {
  it(`of everything that is known fits ${COLUMNS_MAX} columns`, async () => {
    const list = await listKnownModels({ config: {}, file: undefined, keys: captureKeys({}), env: {}, hash: 'h' }, {});
    const lines = formatModels(list).split('\n');
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => line.length > COLUMNS_MAX)).toEqual([]);
  });

  it.each([
    [undefined, '?'],
    [8_192, '8k'],
    [272_000, '272k'],
    [1_000_000, '1M'],
    [1_048_576, '1.05M'],
  ])('%s tokens are %s', (tokens, text) => {
    expect(formatTokens(tokens)).toBe(text);
  });

  it.each([
    [{}, '?'],
    [{ thinkingStyle: 'none' as const }, 'no'],
    [{ thinkingStyle: 'budget' as const }, 'off-high'],
    [{ thinkingLevels: ['off' as const, 'high' as const] }, 'off high'],
    [{ thinkingLevels: ['high' as const, 'off' as const, 'low' as const, 'medium' as const] }, 'off low-high'],
    [{ thinkingLevels: ['minimal' as const, 'low' as const] }, 'minimal-low'],
  ])('the thinking of %j reads %s', (facts, text) => {
    expect(formatThinking(facts)).toBe(text);
  });

  it.each([
    [{}, '?'],
    [{ price: { input: 0, output: 0 } }, 'free'],
    [{ price: { input: 0.25, output: 2 } }, '$0.25 / $2'],
    [{ price: { input: 2, output: 12, longPrompt: { aboveTokens: 200_000, input: 4, output: 18 } } }, '$2 / $12*'],
  ])('the price of %j reads %s', (facts, text) => {
    expect(formatPrice(facts)).toBe(text);
  });
});
