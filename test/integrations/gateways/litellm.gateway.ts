import { afterAll, beforeAll } from 'vitest';
import { GATEWAY_STEP } from '../../providers/suite/cut-cases.js';
import { type CaseId, providerSuite } from '../../providers/suite/provider-suite.js';
import { type ScriptedServer, startScriptedServer } from '../../providers/suite/scripted-server.js';
import type { DoorOptions } from './support/faulty-door.js';
import { startGatewaySubject } from './support/gateway-subject.js';
import { type LiteLlm, startLiteLlm } from './support/litellm.js';

/** A way through LiteLLM: the format it is asked in, and the one that it asks a server of ours in. */
interface Route {
  readonly format: DoorOptions['format'];
  readonly upstream: DoorOptions['format'];
  readonly cannot: Readonly<Partial<Record<CaseId, string>>>;
}

const NO_PAUSE = { M21: 'OpenAI has no word for a paused answer' } as const satisfies Route['cannot'];
const COUNTS = { M28: 'LiteLLM counts the tokens that a server does not tell' } as const satisfies Route['cannot'];
const NO_WAIT = { M3: "LiteLLM drops Retry-After from an error in Anthropic's words" } as const satisfies Route['cannot'];
const CALLS_WITH_INDEX = 'LiteLLM sends calls with a field that chat completions does not have';

/** Here LiteLLM reads answers and writes them anew. What it makes of a lost connection to the server behind it: see litellm-cuts. */
const ROUTES: readonly Route[] = [
  { format: 'openai-chat', upstream: 'openai-chat', cannot: { ...NO_PAUSE, ...COUNTS } },
  {
    format: 'openai-responses',
    upstream: 'openai-responses',
    cannot: { ...NO_PAUSE, ...COUNTS, M18: 'LiteLLM drops the message of an error within the stream' },
  },
  { format: 'anthropic', upstream: 'anthropic', cannot: NO_WAIT },
  { format: 'openai-chat', upstream: 'anthropic', cannot: { ...NO_PAUSE, ...COUNTS } },
  {
    format: 'openai-responses',
    upstream: 'openai-chat',
    cannot: {
      ...NO_PAUSE,
      ...COUNTS,
      'tool results': CALLS_WITH_INDEX,
      'gone tools': CALLS_WITH_INDEX,
      M22: 'LiteLLM makes one call of two that have one id',
    },
  },
  { format: 'anthropic', upstream: 'openai-chat', cannot: { ...NO_PAUSE, ...COUNTS, ...NO_WAIT } },
];

let servers: readonly ScriptedServer[];
let proxy: LiteLlm | undefined;
beforeAll(async () => {
  servers = await Promise.all(ROUTES.map(({ upstream }) => startScriptedServer(upstream)));
  proxy = await startLiteLlm(
    ROUTES.map(({ format, upstream }, index) => ({
      name: `route-${index}`,
      upstream: upstream === 'anthropic' ? 'anthropic/any' : 'openai/any',
      baseUrl: `${servers[index]?.url}${upstream === 'anthropic' ? '' : '/v1'}`,
      apiKey: servers[index]?.apiKey ?? '',
      overChat: format === 'openai-responses' && upstream === 'openai-chat',
    })),
  );
});
afterAll(async () => {
  await proxy?.stop();
  await Promise.all(servers.map((server) => server.close()));
});

for (const [index, { format, upstream, cannot }] of ROUTES.entries()) {
  providerSuite(`LiteLLM, ${format} over ${upstream}`, {
    cannot,
    start: async () => {
      const server = servers[index];
      if (!server || !proxy) throw new Error(`no server of route ${index}`);
      return await startGatewaySubject({
        model: `route-${index}`,
        gateway: proxy.url,
        gatewayKey: proxy.apiKey,
        format,
        upstream: server,
        isOwn: (fault) => 'redirect' in fault || 'html' in fault || 'cutAfterBytes' in fault || 'pingEveryMs' in fault,
        cutStep: GATEWAY_STEP,
      });
    },
  });
}
