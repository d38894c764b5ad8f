import { ProviderQuirks } from '../../../define/provider-quirks.js';
import { lazyProvider } from '../../format/lazy-provider.js';
import type { HttpFormat } from '../../format/wire-format.js';
import { modelIds } from '../../http/model-list.js';

/** OpenAI's chat completions, and every server compatible with them. */
export const OPENAI_CHAT: HttpFormat = {
  kind: 'http',
  api: 'openai-chat',
  keyHeader: 'authorization',
  quirks: ProviderQuirks.keyof().options.filter((name) => name !== 'template'),
  modelList: { path: '/models', ids: modelIds },
  create: (settings) => lazyProvider(async () => (await import('./chat.js')).createOpenAiChatProvider(settings)),
  loadServer: async () => (await import('./server/server.js')).OPENAI_CHAT_SERVER,
};
