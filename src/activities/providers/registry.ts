import { parseModelRef } from '../../contracts/model-ref.js';
import { createAnthropicProvider } from './anthropic.js';
import { ModelError } from './model-error.js';
import { createOpenAiChatProvider } from './openai-chat.js';
import type { ModelProvider } from './provider.js';
import { type AccessOptions, providerAccess } from './provider-access.js';
import { createScriptedProvider } from './scripted.js';

/** A provider with the name its model has there. */
export interface ResolvedModel {
  readonly provider: ModelProvider;
  readonly model: string;
}

/**
 * Makes the look-up from `provider/model` to a provider; each is made once, with its first call. It throws a ModelError: `Model.Auth`
 * that names the variable of a missing key, `Model.BadRequest` for an unknown provider or a bad address.
 */
export function createProviderFor(options: AccessOptions): (model: string) => ResolvedModel {
  const made = new Map<string, ModelProvider>();
  return (name) => {
    const ref = parseModelRef(name);
    if (!ref) throw new ModelError('Model.BadRequest', `model ${name}: use provider/model`);
    // a script is a provider of its own: it remembers where it stands
    const key = ref.provider === 'scripted' ? name : ref.provider;
    const provider = made.get(key) ?? makeProvider(ref, options);
    made.set(key, provider);
    return { provider, model: ref.model };
  };
}

function makeProvider({ provider, model }: { readonly provider: string; readonly model: string }, options: AccessOptions): ModelProvider {
  const access = providerAccess(provider, options);
  switch (access.kind) {
    case 'refused':
      throw new ModelError(access.type, access.problem);
    case 'script':
      return createScriptedProvider({ file: model });
    case 'server':
      return access.api === 'anthropic' ? createAnthropicProvider(access) : createOpenAiChatProvider(access);
  }
}
