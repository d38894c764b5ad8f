import Anthropic from '@anthropic-ai/sdk';
import type { ModelAnswer, ModelProvider, ModelRequest, ProviderSettings } from '../contract/provider.js';
import { guardedFetch } from '../http/guarded-fetch.js';
import { SDK_OPTIONS } from '../http/sdk-options.js';
import { callAnthropic } from './call.js';

/** The version of the API whose answers are read here. */
const API_VERSION = { 'anthropic-version': '2023-06-01' };

/** A provider for Anthropic's messages API and servers that speak it. */
export function createAnthropicProvider(settings: ProviderSettings): ModelProvider {
  return { call: (request) => callServer(settings, request) };
}

async function callServer({ apiKey, baseUrl, quirks = {} }: ProviderSettings, request: ModelRequest): Promise<ModelAnswer> {
  const { keyHeader = 'x-api-key', headers, query } = quirks;
  const key = keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey;
  const { idleMs, firstByteMs } = request;
  const guard = guardedFetch({ idleMs, firstByteMs, headers: { ...API_VERSION, ...headers, [keyHeader]: key }, apiKey });
  const client = new Anthropic({
    apiKey,
    baseURL: baseUrl,
    ...(query ? { defaultQuery: query } : {}),
    ...SDK_OPTIONS,
    fetch: guard.fetch,
    // by its environment variables the SDK would put prompts on traces
    openTelemetry: false,
  });
  return await callAnthropic(request, { client, guard, apiKey, account: [baseUrl, apiKey], quirks });
}
