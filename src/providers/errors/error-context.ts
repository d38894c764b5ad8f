import { failureScope } from '../../contracts/models/cooldowns.js';
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

/** A provider whose 404s say at which address: a wrong one has no models either, and its server's own words seldom tell which it is. */
export function nameMissedAddress(provider: ModelProvider, baseUrl: string): ModelProvider {
  const { origin, pathname } = new URL(baseUrl);
  const address = `${origin}${pathname.replace(/\/+$/u, '')}`;
  return {
    call: async (request) => {
      try {
        return await provider.call(request);
      } catch (error) {
        const isMissed = error instanceof ModelError && error.type === 'Model.NotFound';
        // in front: what a server says at length is cut at its end
        throw isMissed ? error.inWords(`not found at ${address}: ${error.message}`) : error;
      }
    },
  };
}
