import { lazyProvider } from '../../format/lazy-provider.js';
import type { HttpFormat } from '../../format/wire-format.js';
import { modelIds } from '../../http/model-list.js';

/** OpenAI's Responses API. */
export const OPENAI_RESPONSES: HttpFormat = {
  kind: 'http',
  api: 'openai-responses',
  keyHeader: 'authorization',
  quirks: [
    'strictTerminal',
    'keyHeader',
    'query',
    'headers',
    'parallelToolCalls',
    'images',
    'files',
    'thinkingField',
    'schemaDialect',
    'callIdChars',
    'promptCacheKey',
  ],
  modelList: { path: '/models', ids: modelIds },
  create: (settings) => lazyProvider(async () => (await import('./responses.js')).createOpenAiResponsesProvider(settings)),
  loadServer: async () => (await import('./server/server.js')).OPENAI_RESPONSES_SERVER,
};
