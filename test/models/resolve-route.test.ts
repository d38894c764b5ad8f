import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/define/define-config.js';
import { type ResolvedRoute, type RouteRequest, resolveRoute } from '../../src/models/resolve-route.js';
import { captureKeys } from '../../src/providers/access/key-ring.js';

const FREE = { input: 0, output: 0 };
const LOCAL = { api: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1' } as const;

/** Two providers without keys, and one model each that thinks in its own way. */
const CONFIG: Config = {
  providers: { here: LOCAL, there: LOCAL },
  models: {
    'here/thinker': { price: FREE, thinkingStyle: 'effort', thinkingLevels: ['low', 'high'] },
    'here/plain': { price: FREE, thinkingStyle: 'none' },
    'there/thinker': { thinkingStyle: 'effort', thinkingLevels: ['off', 'medium'], thinking: 'medium' },
  },
};

describe('resolveRoute', () => {
  it('D-20: the first model is not repeated, and a fallback without a key is left out with a notice', () => {
    const resolved = route({ model: 'here/a', fallbacks: ['here/a', 'openai/b', 'here/c', 'here/c'] });
    expect(modelsOf(resolved)).toEqual(['here/a', 'here/c']);
    expect(noticesOf(resolved)).toEqual(['fallback left out: model openai/b: no key for openai: SECRET_MISSING env:OPENAI_API_KEY']);
  });

  it('D-23: the order of fallbacks is the one they were given in', () => {
    const fallbacks = ['there/z', 'here/b', 'there/a', 'here/y'];
    expect(modelsOf(route({ model: 'here/x', fallbacks }))).toEqual(['here/x', ...fallbacks]);
  });

  it('all keys of a provider that have values are in the candidate, by reference', () => {
    const env = { OPENAI_API_KEY: 'k-1', OPENAI_API_KEY_10: 'k-10', OPENAI_API_KEY_2: 'k-2' };
    const resolved = route({ model: 'openai/m', fallbacks: [] }, {}, env);
    expect(candidatesOf(resolved)[0]?.credentials).toEqual(['env:OPENAI_API_KEY', 'env:OPENAI_API_KEY_2', 'env:OPENAI_API_KEY_10']);
    expect(JSON.stringify(resolved)).not.toContain('k-1');
  });

  it('a list of the config, or its only key, takes the place of the numbered keys', () => {
    const env = { OPENAI_API_KEY: 'k-1', OPENAI_API_KEY_2: 'k-2', OTHER: 'k-other' };
    const config: Config = { credentials: { openai: ['env:OTHER', 'env:GONE', 'env:OPENAI_API_KEY_2'] } };
    const [first] = candidatesOf(route({ model: 'openai/m', fallbacks: [] }, config, env));
    expect(first?.credentials).toEqual(['env:OTHER', 'env:OPENAI_API_KEY_2']);
    const one: Config = { credentials: { openai: 'env:OTHER' } };
    expect(candidatesOf(route({ model: 'openai/m', fallbacks: [] }, one, env))[0]?.credentials).toEqual(['env:OTHER']);
  });

  it('with a money cap a fallback of unknown price is left out with a notice', () => {
    const asked = { model: 'here/thinker', fallbacks: ['there/thinker', 'here/plain'] };
    expect(modelsOf(route(asked))).toEqual(['here/thinker', 'there/thinker', 'here/plain']);
    const capped = route({ ...asked, needsPrice: true });
    expect(modelsOf(capped)).toEqual(['here/thinker', 'here/plain']);
    expect(noticesOf(capped)).toEqual(['fallback left out: model there/thinker: its price is unknown, and the run has a cost limit']);
  });

  it("C-32: thinking is the run's, else the model's own, else the config's", () => {
    const config = { ...CONFIG, thinking: 'high' as const };
    const fallbacks = ['there/thinker', 'here/other'];
    expect(thinkingOf(route({ model: 'here/thinker', fallbacks }, config))).toEqual(['high', 'medium', 'high']);
    expect(thinkingOf(route({ model: 'here/thinker', fallbacks, thinking: 'low' }, config))).toEqual(['low', 'medium', 'low']);
  });

  it('C-32: a level that the first model does not have is refused with the ones it has; a fallback gets the nearest, with a notice', () => {
    expect(route({ model: 'here/thinker', fallbacks: [], thinking: 'medium' })).toEqual({
      problem: expect.stringMatching(/^model here\/thinker: BAD_THINKING this model does not support the level medium; .*low, high/u),
    });
    expect(route({ model: 'here/plain', fallbacks: [], thinking: 'low' })).toEqual({
      problem: expect.stringContaining('does not support thinking'),
    });
    const mapped = route({ model: 'here/thinker', fallbacks: ['here/plain', 'there/thinker'], thinking: 'high' });
    expect(thinkingOf(mapped)).toEqual(['high', 'off', 'medium']);
    expect(noticesOf(mapped)).toEqual([
      expect.stringMatching(/^model here\/plain /u),
      expect.stringMatching(/^model there\/thinker .*medium/u),
    ]);
  });

  it('what takes the place of the model that was asked for thinks as near to the wish as it can', () => {
    const replaced = route({ model: 'here/thinker', isReplacement: true, fallbacks: [], thinking: 'medium' });
    expect(thinkingOf(replaced)).toEqual(['high']);
    expect(noticesOf(replaced)).toHaveLength(1);
  });

  it("time limits and the window are the config's for that model", () => {
    const times = { idleMs: 2_000, firstByteMs: 3_000, totalMs: 20_000 };
    const config: Config = { providers: { here: LOCAL }, models: { 'here/a': { times, contextWindow: 9_000 } } };
    expect(candidatesOf(route({ model: 'here/a', fallbacks: [] }, config))).toMatchObject([{ times, contextWindow: 9_000 }]);
  });
});

function route(request: RouteRequest, config: Config = CONFIG, env: NodeJS.ProcessEnv = {}): ResolvedRoute {
  return resolveRoute(request, { config, env, keys: captureKeys({ ...env }, ['OTHER']) });
}

function candidatesOf(resolved: ResolvedRoute) {
  if ('problem' in resolved) throw new Error(resolved.problem);
  return resolved.route;
}

function modelsOf(resolved: ResolvedRoute): string[] {
  return candidatesOf(resolved).map(({ model }) => model);
}

function thinkingOf(resolved: ResolvedRoute): unknown[] {
  return candidatesOf(resolved).map(({ thinking }) => thinking);
}

function noticesOf(resolved: ResolvedRoute): readonly string[] {
  return 'problem' in resolved ? [] : resolved.notices;
}
