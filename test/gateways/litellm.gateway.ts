import { afterAll, beforeAll } from 'vitest';
import type { WireFormat } from '../../src/testing/wire-format.js';
import { type CaseId, providerSuite } from '../activities/providers/suite/provider-suite.js';
import { type ScriptedServer, startScriptedServer } from '../activities/providers/suite/scripted-server.js';
import { wireProvider } from '../activities/providers/suite/wire-fixture.js';
import { type LiteLlm, startLiteLlm } from './support/litellm.js';

/** A way through LiteLLM: the format it is asked in, and the one that it asks a server of ours in. */
interface Route {
  readonly door: WireFormat['name'];
  readonly upstream: WireFormat['name'];
  readonly cannot: Readonly<Partial<Record<CaseId, string>>>;
}

/** What LiteLLM itself does with every server behind it. */
const ALWAYS = {
  M6: 'LiteLLM without a database answers a wrong key with status 400',
  M27: 'LiteLLM tells a redirect as an error of its own',
} as const satisfies Route['cannot'];
/** What it does where it reads an answer and writes it anew. */
const REWRITTEN = {
  ...ALWAYS,
  'request id': 'LiteLLM keeps the id of the server behind it to itself',
  M3: 'LiteLLM drops Retry-After',
  M16: 'LiteLLM passes no pings on',
  M21: 'LiteLLM makes an end of a pause',
  M28: 'LiteLLM counts the tokens that a server does not tell',
} as const satisfies Route['cannot'];
/** Worse than all of it: see litellm-cuts. */
const CUTS_HIDDEN = {
  ...REWRITTEN,
  html: 'LiteLLM makes a whole answer of a web page',
  M12: 'LiteLLM makes a whole answer of one that was cut',
} as const satisfies Route['cannot'];

const ROUTES: readonly Route[] = [
  { door: 'openai-chat', upstream: 'openai-chat', cannot: CUTS_HIDDEN },
  {
    door: 'openai-responses',
    upstream: 'openai-responses',
    cannot: {
      ...REWRITTEN,
      M18: 'LiteLLM drops the message of an error within the stream',
      html: 'LiteLLM tells a web page as an error of the server',
    },
  },
  {
    door: 'anthropic',
    upstream: 'anthropic',
    cannot: { ...ALWAYS, M3: REWRITTEN.M3, html: 'LiteLLM passes a web page on as an empty stream' },
  },
  { door: 'openai-chat', upstream: 'anthropic', cannot: CUTS_HIDDEN },
  {
    door: 'openai-responses',
    upstream: 'openai-chat',
    cannot: {
      ...CUTS_HIDDEN,
      'tool results': 'LiteLLM sends calls with a field that chat completions does not have',
      M22: 'LiteLLM makes one call of two that have one id',
    },
  },
  {
    door: 'anthropic',
    upstream: 'openai-chat',
    cannot: CUTS_HIDDEN,
  },
];

let servers: readonly ScriptedServer[];
let proxy: LiteLlm | undefined;

beforeAll(async () => {
  servers = await Promise.all(ROUTES.map(({ upstream }) => startScriptedServer(upstream)));
  proxy = await startLiteLlm(
    ROUTES.map(({ door, upstream }, index) => ({
      name: `route-${index}`,
      upstream: upstream === 'anthropic' ? 'anthropic/any' : 'openai/any',
      baseUrl: `${servers[index]?.url}${upstream === 'anthropic' ? '' : '/v1'}`,
      apiKey: servers[index]?.apiKey ?? '',
      overChat: door === 'openai-responses' && upstream === 'openai-chat',
    })),
  );
});
afterAll(() => proxy?.stop());

for (const [index, { door, upstream, cannot }] of ROUTES.entries()) {
  providerSuite(`LiteLLM, ${door} over ${upstream}`, {
    cannot,
    start: async () => {
      const server = servers[index];
      if (!server || !proxy) throw new Error(`no server of route ${index}`);
      const { url, apiKey: rightKey } = proxy;
      return {
        model: `route-${index}`,
        server,
        gateway: true,
        provider: (apiKey = rightKey) => wireProvider({ api: door, url, apiKey }),
      };
    },
  });
}
