import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { startWireServer, type WireServer } from '../../../src/testing/index.js';
import { CliFolder, type CommandEnd } from '../support/cli.js';

const CONFIG = {
  models: { 'openai/plain': { thinkingStyle: 'none' }, 'anthropic/toolless': { tools: false } },
  credentials: { mistral: ['env:MISTRAL_API_KEY', 'file:/nowhere/mistral'] },
};

let folder: CliFolder;
let server: WireServer;
beforeAll(async () => {
  server = await startWireServer({ handler: () => ({ text: 'here I am' }) });
  folder = await CliFolder.make();
  await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify(CONFIG));
  await folder.start(['dev'], keys()).saw('worker running; Ctrl-C stops it');
});

afterAll(async () => {
  await folder.remove();
  await server.close();
});

/** One worker for all commands. OpenAI's key is refused, Anthropic's is taken. */
const here = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandEnd> =>
  folder.type(args, { ...keys(), ...env });

const keys = (): Record<string, string> => ({
  OPENAI_BASE_URL: server.openaiBaseUrl,
  OPENAI_API_KEY: 'a-key-that-is-refused',
  ANTHROPIC_BASE_URL: server.anthropicBaseUrl,
  ANTHROPIC_API_KEY: server.apiKey,
});

describe('what a command line says of models', { timeout: 120_000 }, () => {
  it('--fallback: by commas and again, in order; a refused key leads to the next model, and show tells it', async () => {
    const args = ['--fallback', 'groq/none, openai/m', '--fallback', 'anthropic/second', '--id', 'r1', '--json'];
    const { code, stdout, stderr } = await here(['run', 'look', '--model', 'openai/m', ...args]);
    expect(JSON.parse(stdout)).toMatchObject({
      reason: 'completed',
      output: 'here I am',
      models: ['anthropic/second'],
      switches: [{ from: 'openai/m', to: 'anthropic/second', why: 'Model.Auth' }],
    });
    expect(stderr).toContain('fallback left out: model groq/none: no key for groq: SECRET_MISSING env:GROQ_API_KEY');
    expect(stderr).toMatch(/model openai\/m → anthropic\/second: Model\.Auth/u);
    expect(code).toBe(0);
    const shown = await here(['show', 'r1']);
    expect(shown.stdout).toMatch(/^switched +turn 1: openai\/m → anthropic\/second: Model\.Auth$/mu);
    expect(shown.stdout + shown.stderr + stdout + stderr).not.toContain('a-key-that-is-refused');
  });

  it('a bare name is looked up: what is known of a provider with a key needs no question', async () => {
    const { stdout } = await here(['run', 'look', '--model', 'claude-sonnet-5', '--json']);
    expect((JSON.parse(stdout) as RunResult).models).toEqual(['anthropic/claude-sonnet-5']);
  });

  it('A14: a bare name that no provider has is refused, with all that were searched, before a run is created', async () => {
    const { code, stdout, stderr } = await here(['run', 'look', '--model', 'no-such-model', '--id', 'nonsense', '--json']);
    expect(stderr).toMatch(/^NO_MODEL: .*was not found \(searched: openai \(127\.0\.0\.1:\d+ answered with status \d+\), anthropic/mu);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NO_MODEL' } });
    expect(code).toBe(2);
    expect((await here(['show', 'nonsense'])).stderr).toContain('RUN_NOT_FOUND');
  });

  it.each([
    [['--thinking', 'hgih'], 'BAD_OPTION: thinking: off, minimal, low, medium, high, or a number of tokens, got "hgih"'],
    [['--thinking', '-1'], 'BAD_OPTION: thinking: '],
    [
      ['--model', 'openai/plain', '--thinking', 'high'],
      'BAD_OPTION: thinking: BAD_THINKING openai/plain: this model does not support thinking; use off',
    ],
    [['--fallback', 'opnai/m'], 'BAD_OPTION: fallback: unknown provider "opnai" (did you mean openai?)'],
    [['--fallback', 'openai/'], 'BAD_OPTION: fallbacks: provider/model'],
    [
      ['--model', 'groq/m'],
      'NO_MODEL: model groq/m: no key for groq: SECRET_MISSING env:GROQ_API_KEY; configured keys: openai (OPENAI_API_KEY), anthropic ',
    ],
  ])('%j is refused before anything is started', async (args, line) => {
    const { code, stderr } = await here(['run', 'look', ...args]);
    expect(stderr).toContain(line);
    expect(code).toBe(2);
  });

  it('a fallback of the environment is checked as one of the command line is', async () => {
    const { code, stderr } = await here(['run', 'look', '--model', 'openai/m'], { PERDURE_FALLBACKS: 'openai/n,opnai/m' });
    expect(stderr).toContain('BAD_OPTION: PERDURE_FALLBACKS: unknown provider "opnai" (did you mean openai?)');
    expect(code).toBe(2);
  });

  it('a run with tools on a model that takes none says so at its start', async () => {
    const { stdout, stderr } = await here(['run', 'look', '--model', 'anthropic/toolless', '--workspace', '.', '--json']);
    expect(stderr).toMatch(/^model anthropic\/toolless is known to support no tools, and the run has \d+: .*; use a different model, /mu);
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed' });
  });

  it('another model to go on with is checked as the first one is, and no run is started with what there is not', async () => {
    await here(['run', 'look', '--model', 'anthropic/first', '--id', 'old', '--json']);
    const { code, stderr } = await here(['continue', 'old', '--model', 'opnai/m']);
    expect(stderr).toMatch(/^NO_MODEL: model opnai\/m: unknown provider "opnai" \(did you mean openai\?\).*\n$/u);
    expect(code).toBe(2);
    expect(await here(['show', 'old.2'])).toMatchObject({ code: 3 });
    const next = await here(['continue', 'old', '--model', 'anthropic/second', '--json']);
    expect(JSON.parse(next.stdout)).toMatchObject({ runId: 'old.2', models: ['anthropic/second'] });
  });

  it('a run whose model failed goes on with a fallback; it and a level of thinking are checked with the model that the run had', async () => {
    await here(['run', 'look', '--model', 'openai/m', '--id', 'failed', '--json']);
    for (const [option, value, problem] of [
      ['--fallback', 'opnai/m', 'BAD_OPTION: fallback: unknown provider "opnai" (did you mean openai?)'],
      ['--thinking', 'hihg', 'BAD_OPTION: thinking: '],
    ] as const) {
      const { code, stderr } = await here(['continue', 'failed', option, value]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) });
    }
    const next = await here(['continue', 'failed', '--fallback', 'anthropic/second', '--json']);
    expect(JSON.parse(next.stdout)).toMatchObject({
      runId: 'failed.2',
      reason: 'completed',
      switches: [{ from: 'openai/m', to: 'anthropic/second', why: 'Model.Auth' }],
    });
  });

  it('doctor says who has a key, and which keys of the config cannot be used', async () => {
    const { stdout } = await here(['doctor']);
    expect(stdout).toMatch(/^ok +model: openai\//mu);
    expect(stdout).toMatch(
      /^warn +keys: openai \(OPENAI_API_KEY\), anthropic \(ANTHROPIC_API_KEY\), .*SECRET_MISSING env:MISTRAL_API_KEY, SECRET_MISSING file:\/nowhere\/mistral$/mu,
    );
    expect(stdout).not.toContain('a-key-that-is-refused');
  });
});
