import { lazyProvider } from '../../format/lazy-provider.js';
import type { HttpFormat } from '../../format/wire-format.js';
import { modelIds } from '../../http/model-list.js';

/** OpenAI's older completions, for servers without chat: a template makes one prompt of the messages. */
export const OPENAI_COMPLETIONS: HttpFormat = {
  kind: 'http',
  api: 'openai-completions',
  keyHeader: 'authorization',
  quirks: ['strictTerminal', 'keyHeader', 'query', 'headers', 'streamUsage', 'template'],
  modelList: { path: '/models', ids: modelIds },
  toolsInPrompt: true,
  create: (settings) => lazyProvider(async () => (await import('./completions.js')).createOpenAiCompletionsProvider(settings)),
  loadServer: async () => (await import('./server/server.js')).OPENAI_COMPLETIONS_SERVER,
};
