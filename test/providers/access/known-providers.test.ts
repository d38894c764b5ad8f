import { describe, expect, it } from 'vitest';
import { ProviderQuirks } from '../../../src/define/provider-quirks.js';
import { modelFacts } from '../../../src/models/model-facts.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { providerNameProblem } from '../../../src/providers/access/known-providers.js';
import { providerAccess } from '../../../src/providers/access/provider-access.js';
import { KNOWN_PROVIDERS } from '../../../src/providers/access/provider-catalog.js';
import { baseUrlProblem } from '../../../src/providers/http/base-url.js';
import { toChatBody } from '../../../src/providers/openai/chat/body.js';
import { modelRequest } from '../support/wire.js';

const NAMES = Object.keys(KNOWN_PROVIDERS);
const SERVERS = Object.entries(KNOWN_PROVIDERS).filter(([, { api }]) => api !== 'scripted');

const access = (provider: string, env: NodeJS.ProcessEnv = {}, config = {}) => {
  const keyNames = Object.values(KNOWN_PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []);
  const keys = captureKeys(env, [...keyNames, 'MY_KEY']);
  return providerAccess({ provider, model: 'm' }, { config, env, keys });
};

describe('known providers', () => {
  it('D-17: openai, anthropic and gemini are looked for first, then the others in a fixed order, those without a key last', () => {
    expect(NAMES.slice(0, 3)).toEqual(['openai', 'anthropic', 'gemini']);
    const keyed = SERVERS.filter(([, { keyVariable }]) => keyVariable !== undefined);
    expect(SERVERS.slice(0, keyed.length)).toEqual(keyed);
  });

  it.each(SERVERS)('%s is well described: address, quirks, and a price of its usual model', (name, known) => {
    expect(known.baseUrl === '' ? undefined : baseUrlProblem(known.baseUrl)).toBeUndefined();
    expect(known.baseUrlVariable).toMatch(/^[A-Z]+_(?:OPENAI_)?(?:BASE_URL|ENDPOINT)$/u);
    expect(ProviderQuirks.parse(known.quirks ?? {})).toEqual(known.quirks ?? {});
    expect(known.local === true).toBe(known.keyVariable === undefined);
    expect(known.defaultModel === undefined || modelFacts(`${name}/${known.defaultModel}`).price !== undefined).toBe(true);
  });

  it.each(SERVERS)('%s is reached with the key and the address of the environment, and no other', (name, known) => {
    const others = Object.fromEntries(
      SERVERS.flatMap(([, { keyVariable }]) => (keyVariable ? [[keyVariable, `other-${keyVariable}`]] : [])),
    );
    const env = {
      ...others,
      ...(known.keyVariable ? { [known.keyVariable]: 'k-own' } : {}),
      [known.baseUrlVariable ?? '']: 'https://host.example/below',
    };
    expect(access(name, env)).toMatchObject({
      kind: 'server',
      api: known.api,
      baseUrl: 'https://host.example/below',
      apiKey: known.local ? 'none' : 'k-own',
    });
  });

  it.each(SERVERS.filter(([, { keyVariable }]) => keyVariable !== undefined))(
    '%s without its key is refused, and the variable is named',
    (name, known) => {
      const env = { [known.baseUrlVariable ?? '']: 'https://host.example/v1' };
      expect(access(name, env)).toMatchObject({
        kind: 'refused',
        type: 'Model.Auth',
        problem: expect.stringContaining(known.keyVariable ?? '-'),
      });
    },
  );

  it.each([
    ['ollama', 'OLLAMA_BASE_URL', 'http://127.0.0.1:9', 'http://127.0.0.1:9/v1'],
    ['llamacpp', 'LLAMACPP_BASE_URL', 'http://127.0.0.1:9/', 'http://127.0.0.1:9/v1'],
    ['vllm', 'VLLM_BASE_URL', 'http://127.0.0.1:9/mine', 'http://127.0.0.1:9/mine'],
    ['openai', 'OPENAI_BASE_URL', 'http://127.0.0.1:9', 'http://127.0.0.1:9'],
    ['azure', 'AZURE_OPENAI_ENDPOINT', 'https://mine.openai.azure.com/', 'https://mine.openai.azure.com/openai/v1'],
  ])('%s: %s=%s means %s', (name, variable, address, baseUrl) => {
    const env = { [variable]: address, OPENAI_API_KEY: 'k', AZURE_OPENAI_API_KEY: 'k' };
    expect(access(name, env)).toMatchObject({ baseUrl });
  });

  it('mistral is not asked for usage in a stream: it tells it unasked, and refuses the question', () => {
    const mistral = access('mistral', { MISTRAL_API_KEY: 'k' });
    const { body } = toChatBody(modelRequest(), mistral.kind === 'server' ? mistral : { baseUrl: '', apiKey: '' });
    expect(body).not.toHaveProperty('stream_options');
  });

  it('azure without an address says where to put it', () => {
    const problem = 'no address for azure. Set AZURE_OPENAI_ENDPOINT, or baseUrl in the config.';
    expect(access('azure', { AZURE_OPENAI_API_KEY: 'k' })).toEqual({ kind: 'refused', type: 'Model.NotFound', problem });
  });

  it("a config's provider takes a preset's quirks as the ground of its own: an older Azure resource with its api-version", () => {
    const mine = {
      api: 'openai-chat',
      preset: 'azure',
      baseUrl: 'https://mine.openai.azure.com/openai/deployments/d',
      credentials: 'env:MY_KEY',
      quirks: { query: { 'api-version': '2024-10-21' }, promptCacheKey: false },
    };
    expect(access('mine', { MY_KEY: 'k' }, { providers: { mine } })).toMatchObject({
      baseUrl: mine.baseUrl,
      quirks: {
        keyHeader: 'api-key',
        outputLimitField: 'max_completion_tokens',
        promptCacheKey: false,
        query: { 'api-version': '2024-10-21' },
      },
    });
  });

  it('a name that is no provider is told with the nearest one; what every object has is none', () => {
    expect(providerNameProblem('openruter', [])).toMatch(/^unknown provider "openruter" \(did you mean openrouter\?\); known: openai, /u);
    expect(providerNameProblem('constructor', [])).toMatch(/^unknown provider "constructor"; known: /u);
    expect(providerNameProblem('mine', ['mine'])).toBeUndefined();
  });
});
