import { describe, expect, it } from 'vitest';
import { FAILOVER_LIMITS } from '../../src/contracts/constants/limits.js';
import type { Config } from '../../src/define/define-config.js';
import { chooseModel, fallbacksOf } from '../../src/models/choose-model.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';

const OPENAI = { OPENAI_API_KEY: 'k-openai' };
const ANTHROPIC = { ANTHROPIC_API_KEY: 'k-anthropic' };
const GATEWAY: Config = { providers: { gateway: { api: 'openai-chat', baseUrl: 'https://gateway.example/v1' } } };

describe('chooseModel', () => {
  it.each([
    ['the key of OpenAI before that of Anthropic', { ...OPENAI, ...ANTHROPIC }, 'openai/gpt-5.4-mini'],
    ['the key of Anthropic', ANTHROPIC, 'anthropic/claude-sonnet-5'],
    ['an address of Ollama, which needs no key', { OLLAMA_BASE_URL: 'http://127.0.0.1:11434' }, 'ollama/llama3'],
  ])('D-17, D-23: without a choice the model is found by %s', (_, env, model) => {
    expect(choose({ env })).toEqual({ model });
  });

  it.each([
    ['PERDURE_MODEL', { PERDURE_MODEL: 'openai/a' }, {}, 'openai/a'],
    ['a bare model with its provider', { PERDURE_MODEL: 'a', PERDURE_MODEL_PROVIDER: 'openai' }, {}, 'openai/a'],
    ['a complete model beside another provider', { PERDURE_MODEL: 'openai/a', PERDURE_MODEL_PROVIDER: 'anthropic' }, {}, 'openai/a'],
    [
      "a gateway's model with a slash in its name",
      { PERDURE_MODEL: 'meta/a', PERDURE_MODEL_PROVIDER: 'gateway' },
      GATEWAY,
      'gateway/meta/a',
    ],
    ['a provider alone', { PERDURE_MODEL_PROVIDER: 'openai' }, {}, 'openai/gpt-5.4-mini'],
    ['a provider alone that the config has a model of', { PERDURE_MODEL_PROVIDER: 'openai' }, { model: 'openai/b' }, 'openai/b'],
    ['a provider alone, the config naming another', { PERDURE_MODEL_PROVIDER: 'openai' }, { model: 'anthropic/b' }, 'openai/gpt-5.4-mini'],
  ])('the environment chooses by %s, before the config', (_, env, config, model) => {
    expect(choose({ env: { ...OPENAI, ...env }, config })).toEqual({ model });
  });

  it.each([
    ['opnai', 'PERDURE_MODEL_PROVIDER: unknown provider "opnai" (did you mean openai?)'],
    ['azure', 'PERDURE_MODEL_PROVIDER: azure has no default model. Set PERDURE_MODEL.'],
    ['gateway', 'PERDURE_MODEL_PROVIDER: gateway has no default model. Set PERDURE_MODEL.'],
  ])('a provider alone, %s, that says no model is told as what it is', (PERDURE_MODEL_PROVIDER, problem) => {
    const chosen = choose({ env: { ...OPENAI, PERDURE_MODEL_PROVIDER }, config: GATEWAY });
    expect(chosen).toEqual({ problem: expect.stringContaining(problem) });
  });

  it.each([
    ['gpt-5/', 'use provider/model'],
    ['opnai/gpt-5', 'unknown provider "opnai" (did you mean openai?); known: openai, anthropic, gemini, '],
    ['constructor/x', 'unknown provider "constructor"'],
    ['anthropic/m', 'no key for anthropic: SECRET_MISSING env:ANTHROPIC_API_KEY; configured keys: openai (OPENAI_API_KEY)'],
  ])('%s is refused with what to do', (requested, problem) => {
    expect(choose({ requested, env: OPENAI })).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('LLM_API_KEY stands in for any provider, and alone it asks for which', () => {
    expect(choose({ requested: 'anthropic/m', env: { LLM_API_KEY: 'k-general' } })).toEqual({ model: 'anthropic/m' });
    expect(choose({ env: { LLM_API_KEY: 'k-general', PERDURE_MODEL_PROVIDER: 'openai' } })).toEqual({ model: 'openai/gpt-5.4-mini' });
    expect(choose({ env: { LLM_API_KEY: 'k-general' } })).toEqual({ problem: expect.stringContaining('PERDURE_MODEL_PROVIDER') });
    expect(choose({})).toEqual({ problem: expect.stringContaining("'perdure models --all' lists them") });
  });

  it('LLM_API_KEY is never sent to a provider of the config, which names its own keys', () => {
    const config: Config = { providers: { mine: { api: 'anthropic', baseUrl: 'https://h', credentials: 'env:MY_KEY' } } };
    expect(choose({ requested: 'mine/m', config, env: { LLM_API_KEY: 'k-general' } })).toEqual({
      problem: expect.stringContaining('SECRET_MISSING env:MY_KEY'),
    });
  });

  it('B22: a key with a line break in it is refused by name, before an HTTP client could repeat it', () => {
    const chosen = choose({ requested: 'openai/m', env: { OPENAI_API_KEY: 'k-one\nk-two' } });
    expect(chosen).toEqual({ problem: expect.stringContaining('SECRET_BAD env:OPENAI_API_KEY') });
    expect(JSON.stringify(chosen)).not.toContain('k-one');
  });

  it('B23: a bad address in the environment is refused by the name of its variable', () => {
    const env = { ...OPENAI, OPENAI_BASE_URL: 'http://models.example/v1' };
    expect(choose({ requested: 'openai/m', env })).toEqual({
      problem: expect.stringContaining('BAD_BASE_URL in OPENAI_BASE_URL: plain http'),
    });
  });

  it('a missing key says which providers do have keys, the second ones too, and those of the config', () => {
    const env = { ...OPENAI, OPENAI_API_KEY_2: 'k-second', MY_KEY: 'k-mine' };
    const config: Config = { providers: { mine: { api: 'anthropic', baseUrl: 'https://h', credentials: 'env:MY_KEY' } } };
    const chosen = choose({ requested: 'groq/m', env, config, extra: ['env:MY_KEY'] });
    expect(chosen).toEqual({
      problem:
        'model groq/m: no key for groq: SECRET_MISSING env:GROQ_API_KEY; configured keys: mine (MY_KEY), ' +
        'openai (OPENAI_API_KEY, OPENAI_API_KEY_2), openai-responses (OPENAI_API_KEY, OPENAI_API_KEY_2)',
    });
    expect(JSON.stringify(chosen)).not.toMatch(/k-openai|k-second|k-mine/u);
  });

  it('a bare name is taken where somebody can be asked for it; without anybody the problem says so', () => {
    expect(choose({ requested: 'gpt-5', env: OPENAI })).toEqual({ model: 'gpt-5' });
    expect(choose({ requested: 'gpt-5' })).toEqual({ problem: expect.stringContaining('no configured provider to search') });
  });

  it('first-available: the first of the chosen one, the fallbacks and the one that is found by its key', () => {
    const config: Config = { resolve: 'first-available', model: 'anthropic/a', fallbacks: ['groq/b', 'mistral/c'] };
    expect(choose({ config, env: { MISTRAL_API_KEY: 'k' } })).toEqual({ model: 'mistral/c' });
    expect(choose({ config, env: OPENAI })).toEqual({ model: expect.stringMatching(/^openai\//u) });
    expect(choose({ config })).toEqual({ problem: expect.stringMatching(/anthropic\/a: .*; model groq\/b: .*; model mistral\/c: /u) });
    expect(choose({ config: { ...config, resolve: 'strict' }, env: OPENAI })).toEqual({ problem: expect.stringContaining('anthropic/a') });
  });

  it('a script needs no key', () => {
    expect(choose({ requested: 'scripted/folder/file.yaml' })).toEqual({ model: 'scripted/folder/file.yaml' });
  });
});

describe('fallbacksOf', () => {
  it.each<[string, readonly string[] | undefined, NodeJS.ProcessEnv, Config, readonly string[]]>([
    ['the request or the agent', ['a/1'], { PERDURE_FALLBACKS: 'b/2' }, { fallbacks: ['c/3'] }, ['a/1']],
    ['an empty list of the request, which means none', [], { PERDURE_FALLBACKS: 'b/2' }, { fallbacks: ['c/3'] }, []],
    ['the environment', undefined, { PERDURE_FALLBACKS: ' b/2 ,, b/3,b/2' }, { fallbacks: ['c/3'] }, ['b/2', 'b/3']],
    ['the config', undefined, { PERDURE_FALLBACKS: '' }, { fallbacks: ['c/3', 'c/4', 'c/3'] }, ['c/3', 'c/4']],
    ['nobody: a failing model fails the run', undefined, {}, {}, []],
  ])('D-20: fallbacks come from %s, each once and in order', (_, fallbacks, env, config, expected) => {
    expect(fallbacksOf({ fallbacks, env, config, keys: captureKeys({}) })).toEqual(expected);
  });

  it('a list of the environment is as long as one of the config may be', () => {
    const env = { PERDURE_FALLBACKS: Array.from({ length: 99 }, (_, index) => `p/${index}`).join(',') };
    expect(fallbacksOf({ env, config: {}, keys: captureKeys({}) })).toHaveLength(FAILOVER_LIMITS.fallbacksMax);
  });
});

interface Choice {
  readonly requested?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly config?: Config;
  /** References of the config's own keys. */
  readonly extra?: readonly string[];
}

function choose({ requested, env: given = {}, config = {}, extra = [] }: Choice) {
  const env = { ...given };
  return chooseModel({ requested, config, keys: captureKeys(env, extra), env });
}
