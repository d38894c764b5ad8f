import type { AiSdkProvider } from '../../define/provider-definition.js';
import { lazyProvider } from '../format/lazy-provider.js';
import type { CustomFormat } from '../format/wire-format.js';

/**
 * Models of the Vercel AI SDK. The config's own function makes them, and asks for the keys that it needs by reference: none is required
 * beforehand.
 */
export const AI_SDK: CustomFormat<AiSdkProvider> = {
  kind: 'custom',
  api: 'ai-sdk',
  keyReferences: () => undefined,
  create(definition, options) {
    return lazyProvider(async () => (await import('./ai-sdk.js')).createAiSdkProvider(definition, options));
  },
};
