import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VertexProvider } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAnthropicVertexProvider } from '../../../src/providers/anthropic/vertex.js';
import type { ModelProvider } from '../../../src/providers/contract/provider.js';
import { type RawServer, startRawServer, statusOf, streamOf } from '../support/raw-server.js';
import { modelRequest, WIRES } from '../support/wire.js';

const ANSWER = WIRES.find(({ name }) => name === 'messages')?.events({ text: 'Hello.' }) ?? [];

describe('createAnthropicVertexProvider', () => {
  let server: RawServer;
  let folder: string;
  beforeEach(async () => {
    server = await startRawServer(streamOf(...ANSWER));
    folder = await mkdtemp(join(tmpdir(), 'perdure-vertex-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
    await rm(folder, { recursive: true });
  });

  function provider(definition: Partial<VertexProvider> = {}): ModelProvider {
    const keys = captureKeys({}, definition.accessToken === undefined ? [] : [definition.accessToken]);
    const place = { api: 'anthropic-vertex', region: 'us-east5', projectId: 'project-1', baseUrl: server.url } as const;
    return createAnthropicVertexProvider({ ...place, ...definition }, { keys });
  }

  async function secretFile(value: string): Promise<string> {
    const path = join(folder, 'secret');
    await writeFile(path, value, { mode: 0o600 });
    await chmod(path, 0o600);
    return path;
  }

  it('sends the messages API in the words of Vertex, with the token as it is at that moment', async () => {
    const vertex = provider({ accessToken: `file:${await secretFile('token-one')}` });
    await expect(vertex.call(modelRequest({ model: 'claude-test@20250101' }))).resolves.toMatchObject({ parts: [{ text: 'Hello.' }] });
    await secretFile('token-two');
    await vertex.call(modelRequest({ model: 'claude-test@20250101' }));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-one', 'Bearer token-two']);
    const [request] = server.requests;
    expect(request?.path).toBe('/projects/project-1/locations/us-east5/publishers/anthropic/models/claude-test@20250101:streamRawPredict');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true });
    expect(JSON.parse(request?.body ?? '')).not.toHaveProperty('model');
  });

  it('a refused token is Model.Auth, and in no error', async () => {
    const vertex = provider({ accessToken: `file:${await secretFile('canary-token-0123456789')}` });
    server.answerWith(statusOf(401, { error: { code: 401, message: 'bad credentials: canary-token-0123456789' } }));
    const error: unknown = await vertex.call(modelRequest()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ type: 'Model.Auth', message: 'bad credentials: [redacted]' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('canary');
  });

  it("without a token of the config the host's default credentials are asked once, for all calls", async () => {
    const google = await startRawServer(statusOf(200, { access_token: 'token-of-google', token_type: 'Bearer', expires_in: 3_600 }));
    try {
      const credentials = join(folder, 'credentials.json');
      await writeFile(credentials, JSON.stringify(federated(`${google.url}/token`, await secretFile('subject'))));
      vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', credentials);
      vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'project-1');
      const vertex = provider();
      await vertex.call(modelRequest());
      await vertex.call(modelRequest());
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-of-google', 'Bearer token-of-google']);
      expect(google.requests).toHaveLength(1);
    } finally {
      await google.close();
    }
  });

  it('a host without credentials is Model.Auth until it has some', async () => {
    const credentials = join(folder, 'credentials.json');
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', credentials);
    vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'project-1');
    const vertex = provider();
    await expect(vertex.call(modelRequest())).rejects.toMatchObject({
      type: 'Model.Auth',
      message: expect.stringContaining('credentials'),
    });
    expect(server.requests).toEqual([]);
    const google = await startRawServer(statusOf(200, { access_token: 'token-of-google', token_type: 'Bearer', expires_in: 3_600 }));
    try {
      await writeFile(credentials, JSON.stringify(federated(`${google.url}/token`, await secretFile('subject'))));
      await expect(vertex.call(modelRequest())).resolves.toMatchObject({ stop: 'end' });
    } finally {
      await google.close();
    }
  });

  it('a missing token names its reference, a bad region is told before anything is sent', async () => {
    await expect(provider({ accessToken: 'env:NOBODY' }).call(modelRequest())).rejects.toMatchObject({
      type: 'Model.Auth',
      message: expect.stringContaining('env:NOBODY'),
    });
    expect(() => provider({ region: 'us east' })).toThrow(expect.objectContaining({ type: 'Model.BadRequest' }));
    expect(server.requests).toEqual([]);
  });
});

/** Credentials that exchange a token of a file for one of Google's, at an address of ours. */
function federated(tokenUrl: string, file: string) {
  return {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: tokenUrl,
    credential_source: { file },
  };
}
