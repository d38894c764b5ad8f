import { ModelError } from '../../providers/contract/model-error.js';
import type { ModelProvider } from '../../providers/contract/provider.js';

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
