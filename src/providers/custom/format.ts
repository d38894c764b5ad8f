import type { CustomProvider } from '../../define/provider-definition.js';
import { lazyProvider } from '../format/lazy-provider.js';
import type { CustomFormat } from '../format/wire-format.js';

/**
 * Wire formats of a config. Their code is loaded with the config; the code that calls them is loaded with the first call.
 */
export const CUSTOM: CustomFormat<CustomProvider> = {
  kind: 'custom',
  api: 'custom',
  keyReferences: ({ credentials }) => (credentials === undefined ? undefined : [credentials].flat()),
  create(definition, options) {
    return lazyProvider(async () => (await import('./custom.js')).createCustomProvider(definition, options));
  },
};
