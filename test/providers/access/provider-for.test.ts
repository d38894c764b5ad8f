import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../../src/define/define-config.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import { modelRequest } from '../support/wire.js';

describe('createProviderFor', () => {
  let server: Server;
  let origin: string;
  let requests: Pick<IncomingMessage, 'url' | 'headers'>[];
  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      requests.push({ url: request.url, headers: request.headers });
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no such key"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    origin = `http://127.0.0.1:${address.port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('openai goes to OPENAI_BASE_URL with its key, and to nobody else', async () => {
    await expectRefusedCall('openai/m', { env: { OPENAI_API_KEY: 'k-openai-1', OPENAI_BASE_URL: `${origin}/v1` } });
    expect(requests).toMatchObject([{ url: '/v1/chat/completions', headers: { authorization: 'Bearer k-openai-1' } }]);
  });

  it('anthropic goes to ANTHROPIC_BASE_URL with its key', async () => {
    await expectRefusedCall('anthropic/m', { env: { ANTHROPIC_API_KEY: 'k-anthropic-1', ANTHROPIC_BASE_URL: origin } });
    expect(requests).toMatchObject([{ url: '/v1/messages', headers: { 'x-api-key': 'k-anthropic-1' } }]);
  });

  it('ollama is named by host and port, and gets no key of another provider', async () => {
    await expectRefusedCall('ollama/m', { env: { OLLAMA_BASE_URL: origin, OPENAI_API_KEY: 'k-openai-1', LLM_API_KEY: 'k-general-1' } });
    expect(requests[0]?.url).toBe('/v1/chat/completions');
    expect(JSON.stringify(requests)).not.toMatch(/k-openai-1|k-general-1/u);
  });

  it("a provider of the config has its own wire format, address and the first of its keys that is there; the model's name keeps its slashes", async () => {
    const config: Config = {
      providers: { mine: { api: 'anthropic', baseUrl: `${origin}/gateway`, credentials: ['env:GONE_KEY', 'env:MY_KEY'] } },
    };
    const env = { MY_KEY: 'k-mine-1' };
    const keys = captureKeys(env, ['MY_KEY', 'GONE_KEY']);
    const { provider, model } = createProviderFor({ config, env, keys })('mine/vendor/model');
    expect(model).toBe('vendor/model');
    await expect(provider.call(modelRequest({ model }))).rejects.toMatchObject({ type: 'Model.Auth' });
    expect(requests).toMatchObject([{ url: '/gateway/v1/messages', headers: { 'x-api-key': 'k-mine-1' } }]);
  });

  it('a missing key is Model.Auth and names its variable; an unknown provider is Model.NotFound; neither sends anything', () => {
    const providerFor = createProviderFor({ config: {}, env: {}, keys: captureKeys({}) });
    expect(() => providerFor('openai/m')).toThrow(
      expect.objectContaining({ type: 'Model.Auth', message: expect.stringContaining('SECRET_MISSING env:OPENAI_API_KEY') }),
    );
    expect(() => providerFor('nobody/m')).toThrow(expect.objectContaining({ type: 'Model.NotFound' }));
    expect(() => providerFor('bare')).toThrow(expect.objectContaining({ type: 'Model.BadRequest' }));
    expect(requests).toEqual([]);
  });

  it('the key that is named is used, numbered ones too; one that is not listed is refused, not replaced', async () => {
    const env = { OPENAI_API_KEY: 'k-openai-1', OPENAI_API_KEY_2: 'k-openai-2', OPENAI_BASE_URL: `${origin}/v1` };
    const providerFor = createProviderFor({ config: {}, keys: captureKeys(env), env });
    const { provider, model } = providerFor('openai/m', 'env:OPENAI_API_KEY_2');
    await expect(provider.call(modelRequest({ model }))).rejects.toMatchObject({ type: 'Model.Auth' });
    expect(requests).toMatchObject([{ headers: { authorization: 'Bearer k-openai-2' } }]);
    expect(() => providerFor('openai/m', 'env:OPENAI_API_KEY_3')).toThrow(expect.objectContaining({ type: 'Model.Auth' }));
  });

  it.each([
    ['env:OPENAI_API_KEY_2', 'env:OPENAI_API_KEY_2'],
    [undefined, 'env:OPENAI_API_KEY'],
  ])('a refusal says which key was refused, by its reference: %s', async (credential, named) => {
    const env = { OPENAI_API_KEY: 'k-openai-1', OPENAI_API_KEY_2: 'k-openai-2', OPENAI_BASE_URL: `${origin}/v1` };
    const { provider, model } = createProviderFor({ config: {}, keys: captureKeys(env), env })('openai/m', credential);
    await expect(provider.call(modelRequest({ model }))).rejects.toMatchObject({
      type: 'Model.Auth',
      status: 401,
      message: `refused with ${named}: no such key`,
    });
  });

  it('the key of a provider that needs none is not named', async () => {
    const env = { OLLAMA_BASE_URL: origin };
    const { provider, model } = createProviderFor({ config: {}, keys: captureKeys(env), env })('ollama/m');
    await expect(provider.call(modelRequest({ model }))).rejects.toMatchObject({
      message: 'no such key',
    });
  });

  it('B22: a key in a file that was changed is used from the next call on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-registry-'));
    try {
      const reference = `file:${join(folder, 'key')}`;
      const config: Config = { providers: { mine: { api: 'openai-chat', baseUrl: `${origin}/v1`, credentials: reference } } };
      const providerFor = createProviderFor({ config, env: {}, keys: captureKeys({}, [reference]) });
      for (const key of ['k-first-1', 'k-second-2']) {
        await writeFile(join(folder, 'key'), `${key}\n`, { mode: 0o600 });
        const { provider, model } = providerFor('mine/m');
        await expect(provider.call(modelRequest({ model }))).rejects.toMatchObject({
          type: 'Model.Auth',
        });
      }
      expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer k-first-1', 'Bearer k-second-2']);
      await chmod(join(folder, 'key'), 0o644);
      expect(() => providerFor('mine/m')).toThrow(expect.objectContaining({ message: expect.stringContaining('SECRET_FILE_MODE 0644') }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each(['/etc/passwd', '../../../../../../../../etc/passwd', 'package.json/../../../../../../../etc/hostname'])(
    'a script outside the folder of the worker is not read: %s',
    async (file) => {
      const { provider, model } = createProviderFor({ config: {}, env: {}, keys: captureKeys({}) })(`scripted/${file}`);
      const calling = provider.call(modelRequest({ model }));
      const message = `BAD_SCRIPT: ${file}: scripted models are files of ${process.cwd()}, where the worker runs`;
      await expect(calling).rejects.toMatchObject({ type: 'Model.BadRequest', message: expect.stringContaining(message) });
    },
  );

  it('one provider is made for all models of a name, and one for each script', () => {
    const env = { OPENAI_API_KEY: 'k-openai-1' };
    const providerFor = createProviderFor({ config: {}, env: {}, keys: captureKeys(env) });
    expect(providerFor('openai/a').provider).toBe(providerFor('openai/b').provider);
    expect(providerFor('scripted/a.yaml').provider).toBe(providerFor('scripted/a.yaml').provider);
    expect(providerFor('scripted/a.yaml').provider).not.toBe(providerFor('scripted/b.yaml').provider);
  });
});

async function expectRefusedCall(name: string, { env, config = {} }: { env: NodeJS.ProcessEnv; config?: Config }): Promise<void> {
  const { provider, model } = createProviderFor({ config, keys: captureKeys(env), env })(name);
  await expect(provider.call(modelRequest({ model }))).rejects.toMatchObject({ type: 'Model.Auth' });
}
