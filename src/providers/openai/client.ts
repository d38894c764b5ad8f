import { createHash } from 'node:crypto';
import OpenAI from 'openai';
import type { ModelRequest, ProviderSettings } from '../contract/provider.js';
import { fetchOfCall, type GuardedFetch, guardedCall, guardedFetch } from '../http/guarded-fetch.js';
import { SDK_OPTIONS } from '../http/sdk-options.js';

/** The guard of one request to a server that speaks one of OpenAI's formats: the key in the header where the server wants it. */
export function openAiGuard(
  { apiKey, quirks }: ProviderSettings,
  { idleMs, firstByteMs }: Pick<ModelRequest, 'idleMs' | 'firstByteMs'>,
): GuardedFetch {
  const keyHeader = quirks?.keyHeader ?? 'authorization';
  const key = keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey;
  return guardedFetch({ idleMs, firstByteMs, headers: { ...quirks?.headers, [keyHeader]: key }, apiKey });
}

/** The clients of the providers in use: making one takes as long as the rest of a request's way through the SDK. */
const clients = new WeakMap<ProviderSettings, OpenAI>();

/** Makes a request by the provider's client, under the request's guard. */
export function openAiCall<Result>(settings: ProviderSettings, guard: GuardedFetch, call: (client: OpenAI) => Result): Result {
  const client = clients.get(settings) ?? openAiClient(settings);
  clients.set(settings, client);
  return guardedCall(guard, () => call(client));
}

/** The SDK's client. It asks once, logs nothing, and takes nothing from the environment. */
function openAiClient({ apiKey, baseUrl, quirks }: ProviderSettings): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    organization: null,
    project: null,
    ...(quirks?.query ? { defaultQuery: quirks.query } : {}),
    ...SDK_OPTIONS,
    fetch: fetchOfCall,
  });
}

/** Where OpenAI's own models are served, by OpenAI and by Azure. */
const OPENAI_HOST = /(^|\.)openai\.(azure\.)?com$/u;

/** True for the servers that take all that OpenAI documents; imitations know less, and some refuse what they do not know. */
export function isOpenAiHost(baseUrl: string): boolean {
  return OPENAI_HOST.test(new URL(baseUrl).hostname);
}

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
