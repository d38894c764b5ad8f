import type { ScriptedSubject } from './suite/provider-subject.js';
import { providerSuite } from './suite/provider-suite.js';
import { startScriptedServer } from './suite/scripted-server.js';
import { aiSdkProvider } from './support/ai-sdk-provider.js';

const PACKAGE_OF = { 'openai-chat': 'chat completions', 'openai-responses': 'responses', anthropic: 'messages' } as const;

providerSuite("the AI SDK's package of chat completions", {
  start: () => startAiSdk('openai-chat'),
  cannot: {
    thinking: 'the package does not read the thinking of compatible servers; the one for those does',
    M21: 'chat completions has no word for a paused answer',
  },
});

providerSuite("the AI SDK's package of the Responses API", {
  start: () => startAiSdk('openai-responses', { style: 'effort', effort: 'low' }),
  cannot: { M21: 'the Responses API has no word for a paused answer' },
});

providerSuite("the AI SDK's package of messages", {
  start: () => startAiSdk('anthropic', { style: 'budget', tokens: 1_024 }),
  cannot: { M28: 'the package refuses an answer that begins without usage' },
});

/** The strict wire server, asked through the AI SDK's real package for its format. */
async function startAiSdk(api: keyof typeof PACKAGE_OF, thinking?: ScriptedSubject['thinking']): Promise<ScriptedSubject> {
  const server = await startScriptedServer(api);
  return {
    model: 'test-model',
    server,
    ...(thinking ? { thinking } : {}),
    provider: (apiKey = server.apiKey) => aiSdkProvider(PACKAGE_OF[api], { url: server.url, apiKey }),
  };
}
