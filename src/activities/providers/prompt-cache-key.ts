import { createHash } from 'node:crypto';
import type { ModelRequest } from '../../providers/contract/provider.js';
import type { ProviderSettings } from '../../providers/contract/provider-settings.js';
import { isOpenAiHost } from './is-openai-host.js';

/** OpenAI refuses a longer one. */
const KEY_CHARS_MAX = 64;

/** The name under which a server that knows such names keeps a prompt: the same for all requests of a session. Undefined for the others. */
export function promptCacheKey(
  { cacheKey }: Pick<ModelRequest, 'cacheKey'>,
  { baseUrl, quirks }: Pick<ProviderSettings, 'baseUrl' | 'quirks'>,
): string | undefined {
  if (cacheKey === undefined || !(quirks?.promptCacheKey ?? isOpenAiHost(baseUrl))) return undefined;
  return cacheKey.length <= KEY_CHARS_MAX ? cacheKey : createHash('sha256').update(cacheKey).digest('hex');
}
