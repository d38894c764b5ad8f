import { providerSuite } from './suite/provider-suite.js';
import { startWireFixture } from './suite/wire-fixture.js';

const EFFORT = { style: 'effort', effort: 'low' } as const;

providerSuite('openai-chat', {
  start: () => startWireFixture({ api: 'openai-chat', thinking: EFFORT }),
  cannot: { M21: 'chat completions has no word for a paused answer' },
});

providerSuite('anthropic', {
  start: () => startWireFixture({ api: 'anthropic', thinking: { style: 'budget', tokens: 1_024 } }),
});

providerSuite('a compatible server (preset vllm)', {
  start: () => startWireFixture({ api: 'openai-chat', preset: 'vllm' }),
  cannot: { M21: 'chat completions has no word for a paused answer' },
});

providerSuite('openai-responses', {
  start: () => startWireFixture({ api: 'openai-responses', thinking: EFFORT }),
  cannot: { M21: 'the Responses API has no word for a paused answer' },
});
