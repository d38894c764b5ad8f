import { captureKeys } from '../../../../src/activities/key-ring.js';
import type { ThinkingOrder } from '../../../../src/activities/providers/provider.js';
import { createProviderFor } from '../../../../src/activities/providers/registry.js';
import type { HttpProvider } from '../../../../src/define/provider-definition.js';
import type { WireFormat } from '../../../../src/testing/wire-format.js';
import type { ScriptedSubject } from './provider-subject.js';
import { startScriptedServer } from './scripted-server.js';

/** A provider of a config, with the strict wire server at its address. */
export interface WireFixtureOptions {
  readonly api: WireFormat['name'];
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
    provider: (apiKey = server.apiKey) => {
      const definition: HttpProvider = {
        api,
        baseUrl: api === 'anthropic' ? server.url : `${server.url}/v1`,
        credentials: 'env:SUITE_KEY',
        ...(preset === undefined ? {} : { preset }),
      };
      const config = { providers: { mine: definition } };
      const providerFor = createProviderFor({ config, env: {}, keys: captureKeys({ SUITE_KEY: apiKey }, ['env:SUITE_KEY']) });
      return providerFor(`mine/${MODEL}`).provider;
    },
  };
}
