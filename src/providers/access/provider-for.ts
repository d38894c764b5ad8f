import { parseModelRef } from '../../contracts/models/model-ref.js';
import { type AccessOptions, namesModel } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelProvider } from '../contract/provider.js';
import { nameMissedAddress, nameRefusedKey } from '../errors/error-context.js';
import { executorFormat, httpFormat } from '../registry.js';
import { createScriptedProvider } from '../scripted/scripted.js';
import { type AccessRequest, type ProviderAccess, providerAccess, type ServerAccess } from './provider-access.js';

/** A provider with the name its model has there. */
export interface ResolvedModel {
  readonly provider: ModelProvider;
  readonly model: string;
}

/** Looks a model up, with one of its provider's keys or the first one. */
export type ProviderFor = (model: string, credential?: string) => ResolvedModel;

/**
 * Makes the look-up from `provider/model` to a provider; each is made once, and anew when its key changed. It throws a ModelError:
 * `Model.Auth` that names the variable of a missing key, `Model.NotFound` for an unknown provider or a bad address: another worker may
 * have had a config with it.
 */
export function createProviderFor(options: AccessOptions): ProviderFor {
  const made = new Map<string, { readonly provider: ModelProvider; readonly apiKey: string | undefined }>();
  return (name, credential) => {
    const ref = parseModelRef(name);
    if (!ref) throw new ModelError('Model.BadRequest', `model ${name}: use provider/model`);
    const asked = { ...ref, credential };
    const access = providerAccess(asked, options);
    const apiKey = access.kind === 'server' ? access.apiKey : undefined;
    const keptName = `${cacheName(name, access)}\n${credential ?? ''}`;
    const kept = made.get(keptName);
    // a key in a file may have been changed since
    const provider = kept && kept.apiKey === apiKey ? kept.provider : makeProvider(asked, access, options);
    made.set(keptName, { provider, apiKey });
    return { provider, model: ref.model };
  };
}

/** A script and an agent's executor keep a state of their own: each is a provider. */
function cacheName(name: string, { kind }: ProviderAccess): string {
  return kind === 'script' || kind === 'executor' ? name : name.slice(0, name.indexOf('/'));
}

function makeProvider(request: AccessRequest, access: ProviderAccess, options: AccessOptions): ModelProvider {
  switch (access.kind) {
    case 'refused':
      throw new ModelError(access.type, access.problem);
    case 'script':
      return createScriptedProvider({
        file: request.model,
        ...(namesModel(options.config, `scripted/${request.model}`) ? {} : { within: process.cwd() }),
      });
    case 'server':
      return keyedProvider(access, request);
    case 'custom':
      return access.format.create(access.definition, options);
    case 'executor':
      return executorFormat(access.executor).create({ ...options, agent: request.model, executor: access.executor });
  }
}

/** Where no key is asked for, the first one is used. */
function keyedProvider(access: ServerAccess, { credential = access.credentials[0] }: AccessRequest): ModelProvider {
  const server = nameMissedAddress(httpFormat(access.api).create(access), access.baseUrl);
  const provider = access.quirks?.hidesCuts ? doubtful(server) : server;
  return credential === undefined ? provider : nameRefusedKey(provider, credential);
}

/** A provider behind a gateway that may hide that an answer was cut. */
function doubtful(provider: ModelProvider): ModelProvider {
  return { call: async (request) => ({ ...(await provider.call(request)), mayBeCut: true }) };
}
