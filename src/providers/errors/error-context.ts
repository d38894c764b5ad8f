import { failureScope } from '../../contracts/cooldown-step.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelProvider } from '../contract/provider.js';

/** A provider whose failures that are the key's own, a refused or an unpaid one, say which key it was: by its reference, `env:NAME`. */
export function nameRefusedKey(provider: ModelProvider, reference: string): ModelProvider {
  return {
    call: async (request) => {
      try {
        return await provider.call(request);
      } catch (error) {
        const isOfKey = error instanceof ModelError && failureScope(error.type) === 'credential';
        // in front: what a server says at length is cut at its end
        throw isOfKey ? error.inWords(`refused with ${reference}: ${error.message}`) : error;
      }
    },
  };
}
