import { SPARSE_STEP } from '../suite/cut-cases.js';
import type { ScriptedSubject } from '../suite/provider-subject.js';
import { providerSuite } from '../suite/provider-suite.js';
import { startScriptedServer } from '../suite/scripted-server.js';
import { aiSdkProvider, type PackageName } from '../support/ai-sdk-provider.js';

providerSuite("the AI SDK's package of chat completions", {
  start: () => startAiSdk('openai-chat', 'chat completions'),
  cannot: {
    thinking: 'the package does not read the thinking of compatible servers; the one for those does',
    M21: 'chat completions has no word for a paused answer',
  },
});

providerSuite("the AI SDK's package of compatible servers, which is of another version of its specification", {
  start: () => startAiSdk('openai-chat', 'compatible'),
  cannot: {
    'tool results': "the package sends thinking back, as DeepSeek wants it: OpenAI's own API has no such field",
    M21: 'chat completions has no word for a paused answer',
  },
});

providerSuite("the AI SDK's package of the Responses API", {
  start: () => startAiSdk('openai-responses', 'responses', { style: 'effort', effort: 'low' }),
  cannot: { M21: 'the Responses API has no word for a paused answer' },
});

providerSuite("the AI SDK's package of messages", {
  start: () => startAiSdk('anthropic', 'messages', { style: 'budget', tokens: 1_024 }),
  cannot: { M28: 'the package refuses an answer that begins without usage' },
});

/** The strict wire server, asked through a real package of the AI SDK that speaks its format. */
async function startAiSdk(
  api: 'openai-chat' | 'openai-responses' | 'anthropic',
  name: PackageName,
  thinking?: ScriptedSubject['thinking'],
): Promise<ScriptedSubject> {
  const server = await startScriptedServer(api);
  return {
    model: 'test-model',
    server,
    // the packages share one parser of event streams
    ...(name === 'chat completions' ? {} : { cutStep: SPARSE_STEP }),
    ...(thinking ? { thinking } : {}),
    provider: (apiKey = server.apiKey) => aiSdkProvider(name, { url: server.url, apiKey }),
  };
}
