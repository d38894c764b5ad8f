import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import { providerSuite } from '../suite/provider-suite.js';
import { startScriptedServer } from '../suite/scripted-server.js';
import { USER_FORMAT } from './user-format.js';

/** A config whose provider has a wire format of its own, over the strict server of chat completions. */
async function startUserFixture() {
  const server = await startScriptedServer('openai-chat');
  return {
    model: 'test-model',
    server,
    provider: (apiKey = server.apiKey) => {
      const definition = { api: 'custom', format: USER_FORMAT, baseUrl: `${server.url}/v1/`, credentials: 'env:ACME_KEY' } as const;
      const keys = captureKeys({ ACME_KEY: apiKey }, ['env:ACME_KEY']);
      return createProviderFor({ config: { providers: { acme: definition } }, env: {}, keys })('acme/test-model').provider;
    },
  };
}

providerSuite('a wire format of the config', {
  start: startUserFixture,
  cannot: { M21: 'chat completions has no word for a paused answer' },
});
