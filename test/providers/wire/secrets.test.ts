import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RawServer, startRawServer, statusOf, streamOf } from '../support/raw-server.js';
import { modelRequest, WIRES } from '../support/wire.js';

const KEY = 'canary-Zq81mPx4vLw9-tail';
const PROMPT = 'canary-prompt-Yt55';

describe.each(WIRES)('what a request over $name gives away', (wire) => {
  let server: RawServer;
  let other: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
    other = await startRawServer();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await server.close();
    await other.close();
  });

  const call = () => wire.provider(server.url, KEY).call(modelRequest({ prompt: PROMPT }));
  const answered = streamOf(...wire.events({ text: 'Hi.' }));

  const sent = async () => {
    server.answerWith(answered);
    await call();
    return server.requests.at(-1);
  };

  it.each([301, 302, 303, 307, 308])(
    'by a redirect with status %i is nothing: the other host gets no request, and the error names it',
    async (status) => {
      server.answerWith((response) => void response.writeHead(status, { location: `${other.url}/v1/messages` }).end());
      await expect(call()).rejects.toMatchObject({
        type: 'Model.BadRequest',
        message: expect.stringMatching(`MODEL_REDIRECT_REFUSED.*${new URL(other.url).host}`),
      });
      expect(other.requests).toEqual([]);
    },
  );

  it.each([
    `Incorrect API key provided: ${KEY}.`,
    `Incorrect API key provided: ${KEY.slice(0, 8)}${'*'.repeat(12)}${KEY.slice(-4)}.`,
    `key "${KEY.slice(3, 15)}" is unknown`,
    `no such key: ****${KEY.slice(-4)}`,
  ])('in an error is no part of the key, though the server says: %s', async (message) => {
    const body = wire.errorBody({ type: 'authentication_error', message });
    const [start = ''] = wire.events({ text: 'Hi.' });
    for (const handler of [
      statusOf(401, body),
      statusOf(200, body),
      streamOf(start, wire.errorEvent({ type: 'authentication_error', message })),
    ]) {
      server.answerWith(handler);
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ type: 'Model.Auth' });
      const shown = inspect(error, { depth: 9, showHidden: true });
      for (let at = 0; at + 6 <= KEY.length; at += 1) expect(shown).not.toContain(KEY.slice(at, at + 6));
      expect(shown).not.toContain(`*${KEY.slice(-4)}`);
    }
  });

  it('in the log is nothing, neither of a broken event nor by a log level of the environment', async () => {
    vi.stubEnv('OPENAI_LOG', 'debug');
    vi.stubEnv('ANTHROPIC_LOG', 'debug');
    const logs = (['log', 'info', 'debug', 'warn', 'error'] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => undefined),
    );
    server.answerWith(streamOf('event: message_start\ndata: {broken canary\n\n'));
    await expect(call()).rejects.toMatchObject({ type: 'Model.BadResponse' });
    server.answerWith(answered);
    await call();
    for (const log of logs) expect(log).not.toHaveBeenCalled();
  });

  it.each([
    { model: 'claude-sonnet-4-5' },
    { model: 'claude-opus-4-6', thinking: { style: 'budget', tokens: 1_024 }, outputTokensMax: 4_096 },
  ] as const)('on the console is nothing, though an SDK has a word to say on $model', async (fields) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    server.answerWith(answered);
    await wire.provider(server.url, KEY).call(modelRequest(fields));
    expect(server.requests.at(-1)?.body).toContain(fields.model);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is the same whatever addresses, keys, organisations and headers the environment holds', async () => {
    const plain = await sent();
    for (const [name, value] of [
      ['BASE_URL', other.url],
      ['API_KEY', 'evil-key-00000000'],
      ['CUSTOM_HEADERS', 'x-evil: 1\nauthorization: Bearer evil\nx-api-key: evil\nanthropic-version: 1999-01-01\nuser-agent: evil'],
    ] as const) {
      vi.stubEnv(`OPENAI_${name}`, value);
      vi.stubEnv(`ANTHROPIC_${name}`, value);
    }
    vi.stubEnv('OPENAI_ORG_ID', 'evil-org');
    vi.stubEnv('OPENAI_PROJECT_ID', 'evil-project');
    vi.stubEnv('OPENAI_ADMIN_KEY', 'evil-admin');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'evil-token');
    vi.stubEnv('ANTHROPIC_PROFILE', 'evil');
    vi.stubEnv('HTTP_PROXY', other.url);
    vi.stubEnv('http_proxy', other.url);
    expect(await sent()).toEqual(plain);
    expect(other.requests).toEqual([]);
    expect(JSON.stringify(plain?.headers)).toContain(KEY);
    expect(plain?.body).toContain(PROMPT);
    expect(plain?.body).not.toContain(KEY);
  });
});
