import { afterAll, beforeAll } from 'vitest';
import { GATEWAY_STEP } from '../../providers/suite/cut-cases.js';
import { providerSuite } from '../../providers/suite/provider-suite.js';
import { type ScriptedServer, startScriptedServer } from '../../providers/suite/scripted-server.js';
import { startGatewaySubject } from './support/gateway-subject.js';
import { type LiteLlm, startLiteLlm } from './support/litellm.js';

const NO_PAUSE = { M21: 'OpenAI has no word for a paused answer' } as const;

/** Where LiteLLM passes answers on as they are. */
const ROUTES = [
  { format: 'openai-chat', path: '/openai_passthrough', cannot: NO_PAUSE },
  { format: 'openai-responses', path: '/openai_passthrough', cannot: NO_PAUSE },
  { format: 'anthropic', path: '/anthropic', cannot: {} },
] as const;

let openai: ScriptedServer;
let anthropic: ScriptedServer;
let proxy: LiteLlm | undefined;
beforeAll(async () => {
  openai = await startScriptedServer('openai-chat', 'openai-responses');
  anthropic = await startScriptedServer('anthropic');
  proxy = await startLiteLlm([], {
    openai: { baseUrl: openai.url, apiKey: openai.apiKey },
    anthropic: { baseUrl: anthropic.url, apiKey: anthropic.apiKey },
  });
});
afterAll(async () => {
  await proxy?.stop();
  await openai.close();
  await anthropic.close();
});

for (const { format, path, cannot } of ROUTES) {
  providerSuite(`LiteLLM, ${format} passed through`, {
    cannot,
    start: async () => {
      if (!proxy) throw new Error('LiteLLM did not start');
      return await startGatewaySubject({
        model: 'any',
        gateway: `${proxy.url}${path}`,
        gatewayKey: proxy.apiKey,
        format,
        upstream: format === 'anthropic' ? anthropic : openai,
        // LiteLLM follows those of the server behind it
        isOwn: (fault) => 'redirect' in fault,
        cutStep: GATEWAY_STEP,
      });
    },
  });
}
