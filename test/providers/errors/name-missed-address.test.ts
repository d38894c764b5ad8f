import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import { startWireServer, WIRE_SERVER_KEY, type WireServer } from '../../../src/testing/wire-server.js';
import { modelRequest } from '../support/wire.js';

describe('an address that has no models', () => {
  let server: WireServer;
  beforeEach(async () => {
    server = await startWireServer({ handler: () => ({ text: 'here', fault: { status: 404, message: 'no such model' } }) });
  });
  afterEach(async () => {
    await server.close();
  });

  it('is named by its 404, for it may be the address that is wrong', async () => {
    await expect(ask({ OPENAI_BASE_URL: `${server.url}/` })).rejects.toMatchObject({
      type: 'Model.NotFound',
      message: `not found at ${server.url}: Not found`,
      status: 404,
    });
  });

  it('is named with the words of a server that has the address, and not the model', async () => {
    await expect(ask({ OPENAI_BASE_URL: server.openaiBaseUrl })).rejects.toMatchObject({
      type: 'Model.NotFound',
      message: `not found at ${server.openaiBaseUrl}: no such model`,
    });
  });
});

function ask(variables: { readonly OPENAI_BASE_URL: string }) {
  const env = { ...variables, OPENAI_API_KEY: WIRE_SERVER_KEY };
  const { provider, model } = createProviderFor({ config: {}, env, keys: captureKeys(env) })('openai/m');
  return provider.call(modelRequest({ model }));
}
