import { failure } from '../../src/activities/runtime/failures.js';
import type { ModelCandidate } from '../../src/contracts/schemas/model-route.js';
import { ModelError } from '../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../../src/providers/contract/provider.js';
import type { AgentWorkerOptions } from './agent-worker.js';

/** A candidate of a test: a name, and keys where the provider has several. */
export function candidate(model: string, more: Partial<ModelCandidate> = {}): ModelCandidate {
  return { model, credentials: [], contextWindow: 100_000, ...more };
}

/** Who was asked, in order: `model` or `model key`. */
export interface FakeModels {
  readonly asked: string[];
  readonly requests: ModelRequest[];
  readonly providerFor: (model: string, credential: string | undefined) => ModelProvider;
}

/** Models by name; each is a function of the request and of how often that model was asked. */
export function fakeModels(
  models: Readonly<Record<string, (request: ModelRequest, call: number, key: string | undefined) => ModelAnswer | Promise<ModelAnswer>>>,
): FakeModels {
  const asked: string[] = [];
  const requests: ModelRequest[] = [];
  const calls = new Map<string, number>();
  return {
    asked,
    requests,
    providerFor: (model, key) => ({
      call: async (request) => {
        asked.push(key === undefined ? model : `${model} ${key}`);
        requests.push(request);
        calls.set(model, (calls.get(model) ?? 0) + 1);
        const answer = models[model];
        if (!answer) throw new Error(`nobody answers for ${model}`);
        return await answer(request, calls.get(model) ?? 0, key);
      },
    }),
  };
}

/** What a worker whose runs have this route needs of its models. */
export function routeOver(
  { providerFor }: FakeModels,
  route: readonly ModelCandidate[],
): Pick<AgentWorkerOptions, 'model' | 'providerFor' | 'route'> {
  return { model: neverAsked, providerFor, route };
}

function neverAsked(): never {
  throw new Error('the run has a route');
}

/** What another run of the same worker found out a moment ago: this model is left alone for so much longer. */
export function coolingFor(sharedMs: number): Error {
  return failure('Model.RateLimited', 'left alone', { details: [{ sharedMs }], nonRetryable: true });
}

/** A server that asks for more than a minute is not waited for: one attempt. */
export function limited(): never {
  throw new ModelError('Model.RateLimited', 'too many requests', { status: 429, retryAfterMs: 120_000, requestId: 'req_1' });
}

/** A server that nobody reaches. */
export function gone(): never {
  throw new ModelError('Model.Unreachable', 'connection refused');
}

/** A server that does not take the key. */
export function refusedKey(): never {
  throw new ModelError('Model.Auth', 'no such key', { status: 401 });
}
