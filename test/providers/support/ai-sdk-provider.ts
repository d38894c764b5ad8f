import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelFactory, LanguageModelTools } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAiSdkProvider } from '../../../src/providers/ai-sdk/ai-sdk.js';
import type { ModelProvider } from '../../../src/providers/contract/provider.js';
import type { Wire } from './wire.js';

/** A server of a wire format, as a model of the AI SDK reaches it. */
export interface AiSdkServer {
  readonly url: string;
  readonly apiKey: string;
}

/** What a package of the AI SDK speaks: a wire format, or chat completions as compatible servers extend them. */
export type PackageName = Wire['name'] | 'compatible';

/** The provider over a model of the AI SDK, made by the real package of a wire format. */
export function aiSdkProvider(wire: PackageName, { url, apiKey }: AiSdkServer): ModelProvider {
  const languageModel: LanguageModelFactory = (modelId, { key, fetch }) =>
    modelOf(wire, modelId, { url, apiKey: key('env:AI_SDK_KEY'), fetch });
  return createAiSdkProvider({ languageModel }, { keys: captureKeys({ AI_SDK_KEY: apiKey }, ['AI_SDK_KEY']), env: {} });
}

interface PackageSettings extends AiSdkServer, Pick<LanguageModelTools, 'fetch'> {}

function modelOf(wire: PackageName, modelId: string, { url, ...settings }: PackageSettings): unknown {
  switch (wire) {
    case 'chat completions':
      return createOpenAI({ baseURL: `${url}/v1`, ...settings }).chat(modelId);
    case 'compatible':
      return createOpenAICompatible({ name: 'mine', baseURL: `${url}/v1`, includeUsage: true, ...settings })(modelId);
    case 'responses':
      return createOpenAI({ baseURL: `${url}/v1`, ...settings }).responses(modelId);
    case 'messages':
      return createAnthropic({ baseURL: `${url}/v1`, ...settings })(modelId);
  }
}
