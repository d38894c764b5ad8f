import type { ModelProvider } from '../contract/provider.js';

/**
 * A provider whose code and SDK are loaded with its first call: to read a config or to list models, no SDK is loaded. When loading fails,
 * the call rejects with the same error, and the next call loads again.
 */
export function lazyProvider(load: () => Promise<ModelProvider>): ModelProvider {
  let provider: Promise<ModelProvider> | undefined;
  return {
    async call(request) {
      provider ??= load();
      const loaded = await provider.catch((error: unknown) => {
        provider = undefined;
        throw error;
      });
      return await loaded.call(request);
    },
  };
}
