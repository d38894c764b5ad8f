import type { BedrockProvider, VertexProvider } from '../../define/provider-definition.js';
import { lazyProvider } from '../format/lazy-provider.js';
import type { CustomFormat, HttpFormat } from '../format/wire-format.js';
import { modelIds } from '../http/model-list.js';
import { bedrockUrl, vertexUrl } from './cloud-url.js';

/** Anthropic's messages API, and servers compatible with it. */
export const ANTHROPIC: HttpFormat = {
  kind: 'http',
  api: 'anthropic',
  keyHeader: 'x-api-key',
  quirks: ['strictTerminal', 'keyHeader', 'query', 'headers', 'parallelToolCalls'],
  // one page has all models
  modelList: { path: '/v1/models?limit=1000', headers: { 'anthropic-version': '2023-06-01' }, ids: modelIds },
  create: (settings) => lazyProvider(async () => (await import('./anthropic.js')).createAnthropicProvider(settings)),
  loadServer: async () => (await import('./server/server.js')).ANTHROPIC_SERVER,
};

/** The messages API on Amazon Bedrock. */
export const ANTHROPIC_BEDROCK: CustomFormat<BedrockProvider> = {
  kind: 'custom',
  api: 'anthropic-bedrock',
  keyReferences: ({ credentials = {} }) => Object.values(credentials).filter((reference) => reference !== undefined),
  create(definition, options) {
    // a bad region or address fails before a request is prepared
    bedrockUrl(definition);
    return lazyProvider(async () => (await import('./bedrock.js')).createAnthropicBedrockProvider(definition, options));
  },
};

/** The messages API on Google Vertex AI. */
export const ANTHROPIC_VERTEX: CustomFormat<VertexProvider> = {
  kind: 'custom',
  api: 'anthropic-vertex',
  keyReferences: ({ accessToken }) => (accessToken === undefined ? [] : [accessToken]),
  create(definition, options) {
    // a bad region or address fails before a request is prepared
    vertexUrl(definition);
    return lazyProvider(async () => (await import('./vertex.js')).createAnthropicVertexProvider(definition, options));
  },
};
