import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../../src/define/define-config.js';
import { MODELS_AS_OF } from '../../../src/models/catalog/models.js';
import { modelFacts } from '../../../src/models/model-facts.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { type ListOptions, listKnownModels } from '../../../src/worker/config/list-models.js';

/** Their values must be nowhere in what is listed. */
const KEYS = { ANTHROPIC_API_KEY: 'k-anthropic-1', ANTHROPIC_API_KEY_2: 'k-anthropic-2', MY_KEY: 'k-mine-1' };

const list = async (options: ListOptions, config: Config = {}, env: NodeJS.ProcessEnv = { ...KEYS }) =>
  await listKnownModels({ config, file: undefined, keys: captureKeys(env, ['env:MY_KEY']), env: process.env, hash: 'h' }, options);

const told = (text: string) => expect.objectContaining({ code: 'UNKNOWN_MODEL', exitCode: 3, message: expect.stringContaining(text) });

describe('listKnownModels', () => {
  it('each provider says whether it can be called, with which keys by name, and what is missing', async () => {
    const { asOf, providers } = await list(
      {},
      { providers: { mine: { api: 'openai-chat', baseUrl: 'https://h', credentials: 'env:MY_KEY' } } },
    );
    expect(asOf).toBe(MODELS_AS_OF);
    expect(providers.map(({ name }) => name).slice(0, 4)).toEqual(['mine', 'openai', 'anthropic', 'gemini']);
    const named = new Map(providers.map((provider) => [provider.name, provider]));
    expect(named.get('mine')).toEqual({ name: 'mine', callable: true, keys: ['env:MY_KEY'] });
    expect(named.get('openai')).toEqual({ name: 'openai', callable: false, keys: [], problem: 'SECRET_MISSING env:OPENAI_API_KEY' });
    expect(named.get('anthropic')).toEqual({
      name: 'anthropic',
      callable: true,
      keys: ['env:ANTHROPIC_API_KEY', 'env:ANTHROPIC_API_KEY_2'],
    });
    expect(named.get('ollama')).toEqual({ name: 'ollama', callable: true, keys: [] });
    expect(named.get('azure')).toMatchObject({ callable: false, problem: expect.stringContaining('AZURE_OPENAI_ENDPOINT') });
    expect(named.has('scripted')).toBe(false);
  });

  it('no value of a key is in it', async () => {
    const text = JSON.stringify(await list({}));
    expect(text).not.toMatch(/k-anthropic|k-mine/u);
    expect(text).toContain('ANTHROPIC_API_KEY');
  });

  it('each model has the facts that a run would go by: those of the config before those of the list', async () => {
    const config: Config = {
      models: { 'anthropic/claude-sonnet-5': { images: false, thinking: 'low' }, 'ollama/qwen3': { contextWindow: 8_000 } },
      prices: { 'openai/ours': { input: 1, output: 2 } },
    };
    const { models } = await list({}, config);
    const named = new Map(models.map((model) => [model.model, model]));
    expect(named.get('anthropic/claude-opus-5')).toEqual({
      model: 'anthropic/claude-opus-5',
      callable: true,
      ...modelFacts('anthropic/claude-opus-5'),
    });
    expect(named.get('anthropic/claude-sonnet-5')).toMatchObject({ images: false, price: { input: 2 } });
    expect(named.get('anthropic/claude-sonnet-5')).not.toHaveProperty('thinking');
    expect(named.get('ollama/qwen3')).toEqual({
      model: 'ollama/qwen3',
      callable: true,
      contextWindow: 8_000,
      price: { input: 0, output: 0 },
    });
    expect(named.get('openai/ours')).toEqual({ model: 'openai/ours', callable: false, price: { input: 1, output: 2 } });
    expect(named.size).toBe(models.length);
  });

  it('a filter is a part of provider/model in any case, and leaves the providers that have some', async () => {
    const { models, providers } = await list({ filter: 'Claude-OPUS' });
    expect(models.length).toBeGreaterThan(2);
    expect(models.filter(({ model }) => !model.startsWith('anthropic/claude-opus'))).toEqual([]);
    expect(providers.map(({ name }) => name)).toEqual(['anthropic']);
  });

  it('the same list comes in the same order each time', async () => {
    expect(await list({})).toEqual(await list({}));
  });

  it('what nobody has is told with the nearest name, with its provider or without', async () => {
    await expect(list({ filter: 'claude-sonet-4-5' })).rejects.toEqual(told('did you mean claude-sonnet-4-5?'));
    await expect(list({ filter: 'anthropic/claude-sonnet-45' })).rejects.toEqual(told('did you mean anthropic/claude-sonnet-4-5?'));
    await expect(list({ provider: 'gemini', filter: 'x'.repeat(5_000) })).rejects.toEqual(told('x'));
    await expect(list({ provider: 'antropic' })).rejects.toMatchObject({
      code: 'UNKNOWN_PROVIDER',
      exitCode: 2,
      message: expect.stringContaining('did you mean anthropic?'),
    });
  });
});

describe('listKnownModels: servers that are asked', () => {
  let server: Server;
  let origin: string;
  let requests: IncomingMessage[];
  let answer: { readonly status: number; readonly body: string };
  beforeEach(async () => {
    requests = [];
    answer = { status: 200, body: JSON.stringify({ data: [{ id: 'gpt-5.1' }, { id: 'an-own-one' }] }) };
    server = createServer((request, response) => {
      requests.push(request);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    origin = `http://127.0.0.1:${address.port}/v1`;
    vi.stubEnv('OPENAI_BASE_URL', origin);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('their models stand in place of the known ones, with what is known of them, by name', async () => {
    const { models } = await list({ provider: 'openai', ask: true }, {}, { OPENAI_API_KEY: 'k-openai-1' });
    expect(models).toEqual([
      { model: 'openai/an-own-one', callable: true },
      { model: 'openai/gpt-5.1', callable: true, ...modelFacts('openai/gpt-5.1') },
    ]);
    expect(requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/v1/models', 'Bearer k-openai-1']]);
  });

  it('a model of the config is listed though the server does not name it', async () => {
    const config: Config = { models: { 'openai/hidden': { tools: true } } };
    const { models } = await list({ provider: 'openai', ask: true }, config, { OPENAI_API_KEY: 'k-openai-1' });
    expect(models.map(({ model }) => model)).toContain('openai/hidden');
  });

  it('one that refuses is told without its key, and the known models stay', async () => {
    answer = { status: 401, body: '{"error":"k-openai-1 is no key"}' };
    const { providers, models } = await list({ provider: 'openai', ask: true }, {}, { OPENAI_API_KEY: 'k-openai-1' });
    expect(providers).toMatchObject([
      { name: 'openai', callable: true, keys: ['env:OPENAI_API_KEY'], problem: expect.stringContaining('status 401') },
    ]);
    expect(JSON.stringify(providers)).not.toContain('k-openai-1');
    expect(models.length).toBeGreaterThan(5);
  });

  it('a key for anybody is shown only to providers that somebody named: it belongs to one of them', async () => {
    vi.stubEnv('PERDURE_MODEL_PROVIDER', '');
    const { providers } = await list({ ask: true }, {}, { LLM_API_KEY: 'k-general-1' });
    const named = new Map(providers.map((provider) => [provider.name, provider]));
    const others = ['anthropic', 'gemini', 'mistral', 'groq', 'openrouter'];
    expect(others.map((name) => named.get(name)?.problem)).toEqual(
      others.map((name) => `not queried, because LLM_API_KEY may belong to another provider; use --provider ${name}`),
    );
    // an address of one's own names it
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer k-general-1', 'Bearer k-general-1']);
    requests = [];
    await list({ ask: true, provider: 'openai' }, {}, { LLM_API_KEY: 'k-general-1' });
    expect(requests).toHaveLength(1);
  });

  it('nobody is asked without --ask, and nobody without a key', async () => {
    await list({ provider: 'openai' }, {}, { OPENAI_API_KEY: 'k-openai-1' });
    await list({ provider: 'openai', ask: true }, {}, {});
    expect(requests).toEqual([]);
  });
});
