import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BedrockProvider } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAnthropicBedrockProvider } from '../../../src/providers/anthropic/bedrock.js';
import type { ModelAnswer } from '../../../src/providers/contract/provider.js';
import { bedrockChunk, bedrockException } from '../support/aws-frame.js';
import { isSigned } from '../support/aws-signature.js';
import { type RawHandler, type RawServer, startRawServer, statusOf } from '../support/raw-server.js';
import { modelRequest, WIRES } from '../support/wire.js';

const KEYS = { ACCESS: 'AKIDCANARY0123456', SECRET: 'canary/Secret+0123456789', SESSION: 'canary-session-token-0123456789==' };
const REFERENCES = { accessKey: 'env:ACCESS', secretKey: 'env:SECRET', sessionToken: 'env:SESSION' };

const EVENTS = eventsOf({ text: 'I read é.', calls: [{ id: 'c1', name: 'read_file', pieces: ['{"path":"a.md"', ',"lines":12}'] }] });
const FRAMES = EVENTS.map(bedrockChunk);

describe('createAnthropicBedrockProvider', () => {
  let server: RawServer;
  beforeEach(async () => {
    server = await startRawServer();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  function call(definition: Partial<BedrockProvider> = { credentials: REFERENCES }, idleMs = 30_000): Promise<ModelAnswer> {
    const keys = captureKeys({ ...KEYS }, Object.values(REFERENCES));
    const place = { api: 'anthropic-bedrock', region: 'eu-west-1', baseUrl: server.url } as const;
    const provider = createAnthropicBedrockProvider({ ...place, ...definition }, { keys });
    return provider.call(modelRequest({ model: 'eu.anthropic.claude-test-v1:0', idleMs }));
  }

  it('sends the messages API in the words of Bedrock, signed with the keys of the config as they are at that moment', async () => {
    server.answerWith(streamed(...FRAMES));
    await expect(call()).resolves.toMatchObject({ stop: 'tool_calls', requestId: 'amzn-1', usage: { inputTokens: 50 } });
    const [request] = server.requests;
    if (!request) throw new Error('no request');
    expect(request.path).toBe('/model/eu.anthropic.claude-test-v1:0/invoke-with-response-stream');
    expect(request.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDCANARY0123456\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /u,
    );
    expect(request.headers).toMatchObject({ 'x-amz-security-token': KEYS.SESSION, 'x-amz-date': expect.stringMatching(/^\d{8}T\d{6}Z$/u) });
    expect(isSigned(request, KEYS.SECRET)).toBe(true);
    expect(isSigned(request, 'another secret')).toBe(false);
    expect(JSON.parse(request.body)).toMatchObject({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 1_000 });
    expect(JSON.parse(request.body)).not.toHaveProperty('model');
    expect(server.requests).toHaveLength(1);
  });

  it('a stream that ends within its frames is a cut answer until the last of them is whole', async () => {
    const whole = Buffer.concat(FRAMES);
    const outcomes: string[] = [];
    for (let length = 0; length <= whole.length; length += length < whole.length - 150 ? 13 : 1) {
      server.answerWith(streamed(whole.subarray(0, length)));
      outcomes.push(await call().then(({ stop }) => stop, told));
    }
    expect(outcomes.at(-1)).toBe('tool_calls');
    expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['Model.StreamTruncated', 'Model.EmptyStream']));
  });

  it('a frame that was damaged on its way is no part of an answer', async () => {
    const damaged = Buffer.concat(FRAMES);
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 40) ^ 1, damaged.length - 40);
    server.answerWith(streamed(damaged));
    await expect(call()).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  });

  it.each([
    ['throttlingException', 'Model.RateLimited'],
    ['modelTimeoutException', 'Model.Timeout'],
    ['validationException', 'Model.BadRequest'],
    ['serviceUnavailableException', 'Model.Overloaded'],
    ['internalServerException', 'Model.Overloaded'],
  ])('the exception %s within a stream is %s', async (exception, type) => {
    server.answerWith(streamed(...FRAMES.slice(0, 3), bedrockException(exception, 'said by Bedrock')));
    await expect(call()).rejects.toMatchObject({ type, message: 'said by Bedrock' });
  });

  it('a chunk that is no JSON is told without its words', async () => {
    server.answerWith(streamed(bedrockChunk('WORDS-CANARY')));
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ type: 'Model.BadResponse' });
    expect(inspect(error, { depth: 9 })).not.toContain('WORDS-CANARY');
  });

  it.each([
    [403, 'The security token included in the request is invalid.', 'Model.Auth'],
    [429, 'Too many requests, please wait before trying again.', 'Model.RateLimited'],
    [400, 'Input is too long for requested model.', 'Model.ContextOverflow'],
    [503, 'Too many connections.', 'Model.Overloaded'],
  ])('status %i with "%s" is %s, with the id of the request', async (status, message, type) => {
    server.answerWith(statusOf(status, { message }, { 'x-amzn-requestid': 'amzn-2' }));
    await expect(call()).rejects.toMatchObject({ type, status, message, requestId: 'amzn-2' });
  });

  it('no key is in the error of a refused signature, though it repeats the request', async () => {
    server.answerWith((response, { headers }) => {
      const canonical = `host:x\nx-amz-security-token:${String(headers['x-amz-security-token'])}\n\n${String(headers.authorization)}`;
      return statusOf(403, { message: `The canonical string should have been '${canonical}' for ${KEYS.SECRET}` })(response, {
        path: '',
        headers,
        body: '',
      });
    });
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ type: 'Model.Auth', message: expect.stringContaining('canonical string') });
    const shown = inspect(error, { depth: 9, showHidden: true });
    for (const key of Object.values(KEYS)) expect(shown).not.toContain(key.slice(0, 12));
  });

  it("without keys of the config the host's own chain is asked, whose token is in no error either", async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDOFTHEHOST');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'the host secret');
    vi.stubEnv('AWS_SESSION_TOKEN', 'host-canary-token');
    server.answerWith(statusOf(403, { message: 'x-amz-security-token:host-canary-token was refused' }));
    await expect(call({})).rejects.toMatchObject({ type: 'Model.Auth', message: 'x-amz-security-token:[redacted] was refused' });
    const [request] = server.requests;
    expect(request?.headers.authorization).toContain('Credential=AKIDOFTHEHOST/');
    expect(request && isSigned(request, 'the host secret')).toBe(true);
  });

  it('a host without credentials is Model.Auth, and nothing is sent', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent/credentials');
    vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent/config');
    await expect(call({})).rejects.toMatchObject({ type: 'Model.Auth', message: expect.stringContaining('credential provider chain') });
    expect(server.requests).toEqual([]);
  });

  it('a missing key names its variable, a bad region or address is told before anything is sent', async () => {
    const credentials = { ...REFERENCES, secretKey: 'env:NOBODY' };
    await expect(call({ credentials })).rejects.toMatchObject({ type: 'Model.Auth', message: expect.stringContaining('env:NOBODY') });
    expect(() => call({ region: 'x.example/' })).toThrow(expect.objectContaining({ type: 'Model.BadRequest' }));
    expect(() => call({ baseUrl: 'http://192.0.2.1' })).toThrow(expect.objectContaining({ type: 'Model.BadRequest' }));
    expect(server.requests).toEqual([]);
  });

  it('silence within the frames is ended after the idle time', async () => {
    server.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.write(FRAMES[0]);
    });
    await expect(call({ credentials: REFERENCES }, 100)).rejects.toMatchObject({ type: 'Model.StreamIdle' });
  });
});

/** The data of the events that a messages server sends. */
function eventsOf(script: Parameters<(typeof WIRES)[number]['events']>[0]): string[] {
  const messages = WIRES.find(({ name }) => name === 'messages');
  return (messages?.events(script) ?? []).map((event) => event.slice(event.indexOf('data: ') + 'data: '.length).trim());
}

function streamed(...frames: Uint8Array[]): RawHandler {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'amzn-1' });
    for (const frame of frames) response.write(frame);
    response.end();
  };
}

function told(error: unknown): string {
  return error instanceof Error && 'type' in error ? String(error.type) : String(error);
}
