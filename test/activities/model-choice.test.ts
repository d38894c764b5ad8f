import { describe, expect, it } from 'vitest';
import { captureKeys } from '../../src/activities/key-ring.js';
import { chooseModel } from '../../src/activities/model-choice.js';
import type { Config } from '../../src/define/define-config.js';

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
    ['gpt-5', 'use provider/model'],
    ['opnai/gpt-5', 'unknown provider "opnai" (did you mean openai?); known: openai, anthropic, gemini, '],
    ['constructor/x', 'unknown provider "constructor"'],
    ['openai-responses/m', 'not supported in this version; openai/MODEL speaks chat completions'],
    ['anthropic/m', 'no key for anthropic: SECRET_MISSING env:ANTHROPIC_API_KEY (keys found: OPENAI_API_KEY)'],
  ])('%s is refused with what to do', (requested, problem) => {
    expect(choose({ requested, env: OPENAI })).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('LLM_API_KEY stands in for any provider, and alone it asks for which', () => {
    expect(choose({ requested: 'anthropic/m', env: { LLM_API_KEY: 'k-general' } })).toEqual({ model: 'anthropic/m' });
    expect(choose({ env: { LLM_API_KEY: 'k-general', PERDURE_MODEL_PROVIDER: 'openai' } })).toEqual({ model: 'openai/gpt-5.4-mini' });
    expect(choose({ env: { LLM_API_KEY: 'k-general' } })).toEqual({ problem: expect.stringContaining('PERDURE_MODEL_PROVIDER') });
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

  it('a script needs no key', () => {
    expect(choose({ requested: 'scripted/folder/file.yaml' })).toEqual({ model: 'scripted/folder/file.yaml' });
  });
});

function choose({ requested, env: given = {}, config = {} }: { requested?: string; env?: NodeJS.ProcessEnv; config?: Config }) {
  const env = { ...given };
  return chooseModel({ requested, agentModel: undefined, config, keys: captureKeys(env), env });
}
