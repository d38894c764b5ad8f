import type { HttpApi, HttpProvider } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import type { ModelProvider, ThinkingOrder } from '../../../src/providers/contract/provider.js';
import { SPARSE_STEP } from './cut-cases.js';
import type { ScriptedSubject } from './provider-subject.js';
import { startScriptedServer } from './scripted-server.js';

/** A provider of a config, with the strict wire server at its address. */
export interface WireFixtureOptions {
  readonly api: HttpApi;
  readonly preset?: string;
  readonly thinking?: ThinkingOrder;
}

const MODEL = 'test-model';

/** Starts the server, and gives the provider that a config with this definition gives a run. */
export async function startWireFixture({ api, preset, thinking }: WireFixtureOptions): Promise<ScriptedSubject> {
  const server = await startScriptedServer(api);
  return {
    model: MODEL,
    server,
    ...(thinking ? { thinking } : {}),
    // a preset changes what is sent, not how an answer is read; both formats of completions share a parser of event streams
    ...(preset !== undefined || api === 'openai-completions' ? { cutStep: SPARSE_STEP } : {}),
    provider: (apiKey = server.apiKey) => wireProvider({ api, url: server.url, apiKey, preset }),
  };
}

/** What stands in a config about a server. */
export interface WireProviderOptions {
  readonly api: HttpApi;
  readonly url: string;
  readonly apiKey: string;
  readonly preset?: string | undefined;
}

/** The provider that a config gives a run for a server at a local address. */
export function wireProvider({ api, url, apiKey, preset }: WireProviderOptions): ModelProvider {
  const definition: HttpProvider = {
    api,
    baseUrl: api.startsWith('openai-') ? `${url}/v1` : url,
    credentials: 'env:SUITE_KEY',
    ...(preset === undefined ? {} : { preset }),
  };
  const config = { providers: { mine: definition } };
  const keys = captureKeys({ SUITE_KEY: apiKey }, ['env:SUITE_KEY']);
  return createProviderFor({ config, env: {}, keys })(`mine/${MODEL}`).provider;
}
