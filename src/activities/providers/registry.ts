import { type ModelRef, parseModelRef } from '../../contracts/model-ref.js';
import { createAnthropicProvider } from './anthropic.js';
import { ModelError } from './model-error.js';
import { createOpenAiChatProvider } from './openai-chat.js';
import type { ModelProvider } from './provider.js';
import { type AccessOptions, type ProviderAccess, providerAccess, type ServerAccess } from './provider-access.js';
import { createScriptedProvider } from './scripted.js';

/** A provider with the name its model has there. */
export interface ResolvedModel {
  readonly provider: ModelProvider;
  readonly model: string;
}

/** Looks a model up, with one of its provider's keys or the first one. */
export type ProviderFor = (model: string, credential?: string) => ResolvedModel;

/**
 * Makes the look-up from `provider/model` to a provider; each is made once, with its first call. It throws a ModelError: `Model.Auth`
 * that names the variable of a missing key, `Model.BadRequest` for an unknown provider or a bad address.
 */
export function createProviderFor(options: AccessOptions): ProviderFor {
  const made = new Map<string, ModelProvider>();
  return (name, credential) => {
    const ref = parseModelRef(name);
    if (!ref) throw new ModelError('Model.BadRequest', `model ${name}: use provider/model`);
    const key = `${keptAs(name, ref)}\n${credential ?? ''}`;
    const provider = made.get(key) ?? makeProvider(ref, credential, options);
    made.set(key, provider);
    return { provider, model: ref.model };
  };
}

/** A script, and an agent's executor, is a provider of its own: it remembers where it stands. */
function keptAs(name: string, { provider }: ModelRef): string {
  return provider === 'scripted' || provider === 'subprocess' || provider === 'stub' ? name : provider;
}

function makeProvider(ref: ModelRef, credential: string | undefined, options: AccessOptions): ModelProvider {
  const access = providerAccess({ ...ref, credential }, options);
  switch (access.kind) {
    case 'refused':
      throw new ModelError(access.type, access.problem);
    case 'script':
      return createScriptedProvider({ file: ref.model });
    case 'server':
      return serverProvider(access);
    case 'bedrock':
    case 'vertex':
    case 'ai-sdk':
    case 'executor':
      return notBuilt(access);
  }
}

function serverProvider(access: ServerAccess): ModelProvider {
  switch (access.api) {
    case 'openai-chat':
      return createOpenAiChatProvider(access);
    case 'anthropic':
      return createAnthropicProvider(access);
    case 'openai-responses':
    case 'openai-completions':
      return notBuilt(access);
  }
}

function notBuilt({ kind }: ProviderAccess): never {
  throw new ModelError('Model.BadRequest', `providers of kind ${kind} are not built yet`);
}
