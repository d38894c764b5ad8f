import { afterEach, describe, expect, it } from 'vitest';
import { resolveModel } from '../../src/activities/prepare/resolve-model.js';
import type { Config } from '../../src/define/define-config.js';
import { chooseRoute, type RouteChoice } from '../../src/models/choose-route.js';
import type { ResolvedRoute } from '../../src/models/resolve-route.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';
import { type ListServer, startListServer } from '../activities/support/list-server.js';

/** Nobody listens at this port. */
const NOWHERE = 'http://127.0.0.1:1/v1';

describe('a model by its bare name', () => {
  const servers: ListServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  it('A-03: each provider is asked in turn, those of the config first, and the first that lists it is used', async () => {
    const [first, second, third] = [await serve(['x']), await serve(['y', 'wanted']), await serve(['wanted'])];
    const config = providers({ first, second, third });
    expect(modelsOf(await choose({ requested: 'wanted' }, config))).toEqual(['second/wanted']);
    expect([first, second, third].map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
  });

  it('what is known of a model is looked at before anybody is asked', async () => {
    const known = await serve([]);
    const config = { ...providers({ known }), models: { 'known/wanted': { contextWindow: 8_000 } } };
    expect(modelsOf(await choose({ requested: 'wanted' }, config))).toEqual(['known/wanted']);
    expect(known.requests).toEqual([]);
    const env = { OPENAI_API_KEY: 'k-1', OPENAI_BASE_URL: `${known.origin}/v1` };
    expect(modelsOf(await choose({ requested: 'gpt-5' }, {}, env))).toEqual(['openai/gpt-5']);
    expect(known.requests).toEqual([]);
  });

  it('known providers are asked when they have a key or an address, each with its own; the newest of a local name is meant by it', async () => {
    const [openai, ollama] = [await serve([]), await serve(['small:latest'])];
    const env = { OPENAI_API_KEY: 'k-1', OPENAI_BASE_URL: `${openai.origin}/v1`, OLLAMA_BASE_URL: ollama.origin };
    expect(modelsOf(await choose({ requested: 'small' }, {}, env))).toEqual(['ollama/small']);
    expect(openai.requests.every(({ headers }) => headers.authorization === 'Bearer k-1')).toBe(true);
    expect(ollama.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('LLM_API_KEY is shown to nobody who was not named', async () => {
    const named = await serve(['wanted']);
    const env = { LLM_API_KEY: 'k-any', GROQ_BASE_URL: `${named.origin}/v1` };
    expect(modelsOf(await choose({ requested: 'wanted' }, {}, env))).toEqual(['groq/wanted']);
    expect(await choose({ requested: 'wanted' }, {}, { LLM_API_KEY: 'k-any' })).toEqual({
      problem: expect.stringContaining('no configured provider to search'),
    });
  });

  it('the provider of the environment is asked before all others', async () => {
    const [first, second] = [await serve(['wanted']), await serve(['wanted'])];
    const env = { PERDURE_MODEL_PROVIDER: 'second' };
    expect(modelsOf(await choose({ requested: 'wanted' }, providers({ first, second }), env))).toEqual(['second/wanted']);
  });

  it('A-03: when nobody lists it the error names all who were asked, and why one could not be', async () => {
    const there = await serve(['x']);
    const config = providers({ there, gone: { origin: NOWHERE.replace('/v1', '') } });
    expect(await choose({ requested: 'wanted' }, config)).toEqual({
      problem: expect.stringMatching(
        /^model "wanted" was not found \(searched: there, gone \(127\.0\.0\.1:1 .*\)\)\. Use provider\/model/u,
      ),
    });
  });

  it('one that could not be searched is told when another has it', async () => {
    const there = await serve(['wanted']);
    const resolved = await choose({ requested: 'wanted' }, providers({ gone: { origin: NOWHERE.replace('/v1', '') }, there }));
    expect(modelsOf(resolved)).toEqual(['there/wanted']);
    expect(noticesOf(resolved)).toEqual([expect.stringMatching(/^model wanted: gone could not be searched: 127\.0\.0\.1:1 /u)]);
  });

  it('a fallback by its bare name is looked up too; one that nobody has is left out', async () => {
    const there = await serve(['a', 'b']);
    const resolved = await choose({ requested: 'a', fallbacks: ['b', 'nobody-has-it', 'there/a'] }, providers({ there }));
    expect(modelsOf(resolved)).toEqual(['there/a', 'there/b']);
    expect(noticesOf(resolved)).toEqual([
      expect.stringMatching(/^fallback left out: model "nobody-has-it" was not found \(searched: there\)\./u),
    ]);
  });

  it('resolveModel: a live run may be told a bare name; how its model thought before is only come near to', async () => {
    const there = await serve(['wanted']);
    const config: Config = { ...providers({ there }), models: { 'there/wanted': { thinkingStyle: 'effort', thinkingLevels: ['low'] } } };
    const options = { config, env: {}, keys: captureKeys({}), signal: new AbortController().signal };
    const asked = { runId: 'r', model: 'wanted' };
    expect(await resolveModel({ ...asked, thinkingBefore: 'high' }, options)).toMatchObject({
      candidate: { model: 'there/wanted', thinking: 'low' },
    });
    expect(await resolveModel({ ...asked, thinking: 'high' }, options)).toEqual({ problem: expect.stringContaining('BAD_THINKING') });
    expect(await resolveModel({ ...asked, needsPrice: true }, options)).toEqual({ problem: expect.stringContaining('price is unknown') });
    expect(await resolveModel({ ...asked, model: 'subprocess/helper' }, options)).toEqual({
      problem: expect.stringContaining('a run cannot switch to an executor'),
    });
    expect(await resolveModel({ ...asked, model: 'other' }, options)).toEqual({
      problem: expect.stringContaining('was not found (searched: there)'),
    });
  });

  it('a run that is stopped asks nobody further', async () => {
    const stop = new AbortController();
    const silent = await serve(() => stop.abort(new Error('stopped')));
    const next = await serve(['wanted']);
    const options = { config: providers({ silent, next }), env: {}, keys: captureKeys({}), signal: stop.signal };
    await expect(chooseRoute({ requested: 'wanted', needsPrice: false }, options)).rejects.toThrow('stopped');
    expect(next.requests).toEqual([]);
  });

  async function serve(models: Parameters<typeof startListServer>[0]): Promise<ListServer> {
    const server = await startListServer(models);
    servers.push(server);
    return server;
  }
});

describe('resolve: first-available', () => {
  const config: Config = {
    resolve: 'first-available',
    model: 'anthropic/a',
    fallbacks: ['groq/b', 'local/c', 'local/d'],
    providers: { local: { api: 'openai-chat', baseUrl: NOWHERE } },
  };

  it('the first model that can be called is taken, and said; those behind it are its fallbacks', async () => {
    const resolved = await choose({}, config);
    expect(modelsOf(resolved)).toEqual(['local/c', 'local/d']);
    expect(noticesOf(resolved)).toEqual([
      expect.stringMatching(/^using local\/c instead: model anthropic\/a: no key .*; model groq\/b: no key /u),
    ]);
  });

  it('when the chosen one can be called all is as under strict', async () => {
    const resolved = await choose({}, config, { ANTHROPIC_API_KEY: 'k-1' });
    expect(modelsOf(resolved)).toEqual(['anthropic/a', 'local/c', 'local/d']);
  });

  it('the last resort is the model that is found by its key', async () => {
    const resolved = await choose({ fallbacks: [] }, config, { MISTRAL_API_KEY: 'k-1' });
    expect(modelsOf(resolved)).toEqual([expect.stringMatching(/^mistral\//u)]);
  });

  it('what takes the place of a model keeps the money cap: one of unknown price is passed over', async () => {
    const prices = { 'local/d': { input: 1, output: 2 } };
    expect(modelsOf(await choose({ needsPrice: true }, { ...config, prices }))).toEqual(['local/d']);
  });

  it("A-03: a bare name that nobody lists is the default provider's", async () => {
    const resolved = await choose({ requested: 'wanted', fallbacks: [] }, { ...config, model: 'local/usual' });
    expect(modelsOf(resolved)).toEqual(['local/wanted']);
    expect(noticesOf(resolved)).toEqual([expect.stringMatching(/^using local\/wanted: model "wanted" was not found \(searched: local /u)]);
  });

  it('nothing that can be called is one problem that names each', async () => {
    expect(await choose({ fallbacks: ['groq/b'] }, { ...config, providers: {} })).toEqual({
      problem: expect.stringMatching(/anthropic\/a: .*; model groq\/b: /u),
    });
  });
});

function choose(wishes: Partial<RouteChoice>, config: Config, given: NodeJS.ProcessEnv = {}): Promise<ResolvedRoute> {
  const env = { ...given };
  return chooseRoute({ needsPrice: false, ...wishes }, { config, keys: captureKeys(env), env });
}

function providers(servers: Record<string, Pick<ListServer, 'origin'>>): Config {
  const entries = Object.entries(servers).map(([name, { origin }]) => [name, { api: 'openai-chat', baseUrl: `${origin}/v1` }] as const);
  return { providers: Object.fromEntries(entries) };
}

function modelsOf(resolved: ResolvedRoute): string[] {
  if ('problem' in resolved) throw new Error(resolved.problem);
  return resolved.route.map(({ model }) => model);
}

function noticesOf(resolved: ResolvedRoute): readonly string[] {
  return 'problem' in resolved ? [] : resolved.notices;
}
