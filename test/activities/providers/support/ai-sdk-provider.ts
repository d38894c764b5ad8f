import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { captureKeys } from '../../../../src/activities/key-ring.js';
import { createAiSdkProvider } from '../../../../src/activities/providers/ai-sdk.js';
import type { ModelProvider } from '../../../../src/activities/providers/provider.js';
import type { LanguageModelFactory, LanguageModelTools } from '../../../../src/define/provider-definition.js';
import type { Wire } from './wire.js';

/** A server of a wire format, as a model of the AI SDK reaches it. */
export interface AiSdkServer {
  readonly url: string;
  readonly apiKey: string;
}

/** The provider over a model of the AI SDK, made by the real package of a wire format. */
export function aiSdkProvider(wire: Wire['name'], { url, apiKey }: AiSdkServer): ModelProvider {
  const languageModel: LanguageModelFactory = (modelId, { key, fetch }) =>
    modelOf(wire, modelId, { url, apiKey: key('env:AI_SDK_KEY'), fetch });
  return createAiSdkProvider({ languageModel }, { keys: captureKeys({ AI_SDK_KEY: apiKey }, ['AI_SDK_KEY']), env: {} });
}

interface PackageSettings extends AiSdkServer, Pick<LanguageModelTools, 'fetch'> {}

function modelOf(wire: Wire['name'], modelId: string, { url, ...settings }: PackageSettings): unknown {
  switch (wire) {
    case 'chat completions':
      return createOpenAI({ baseURL: `${url}/v1`, ...settings }).chat(modelId);
    case 'responses':
      return createOpenAI({ baseURL: `${url}/v1`, ...settings }).responses(modelId);
    case 'messages':
      return createAnthropic({ baseURL: `${url}/v1`, ...settings })(modelId);
  }
}
