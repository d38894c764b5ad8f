import { inspect } from 'node:util';
import { APICallError, InvalidResponseDataError, JSONParseError, type LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAiSdkProvider } from '../../../src/providers/ai-sdk/ai-sdk.js';
import { answering, askAiSdk, FINISH, TEXT, throwing } from '../support/ask-ai-sdk.js';
import { modelRequest } from '../support/wire.js';

describe('a failure of a model of the AI SDK', () => {
  it.each([
    ['401', api(401), { type: 'Model.Auth', status: 401 }],
    ['429 with Retry-After', api(429, { responseHeaders: { 'retry-after': '7' } }), { type: 'Model.RateLimited', retryAfterMs: 7_000 }],
    ['429 of a spent quota', api(429, { responseBody: '{"error":{"code":"insufficient_quota","message":"m"}}' }), { type: 'Model.Quota' }],
    ['400 of a long prompt', api(400, { responseBody: '{"error":{"code":"context_length_exceeded"}}' }), { type: 'Model.ContextOverflow' }],
    ['529', api(529, { responseHeaders: { 'request-id': 'req_9' } }), { type: 'Model.Overloaded', requestId: 'req_9' }],
    ['no answer', api(undefined, { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }), { type: 'Model.Unreachable' }],
    ['an answer with status 200 that is none', api(200), { type: 'Model.BadResponse' }],
    [
      'an end that a package tells of itself',
      new InvalidResponseDataError({ data: undefined, message: 'Response stream ended without a finish reason.' }),
      { type: 'Model.StreamTruncated' },
    ],
    ['what could not be read', new JSONParseError({ text: 'PROMPT-CANARY', cause: new SyntaxError('x') }), { type: 'Model.BadResponse' }],
    ['a plain error', new Error('who knows'), { type: 'Model.StreamTruncated' }],
  ])('%s is classed as by any provider, and holds nothing of the request', async (_, error, expected) => {
    const thrown: unknown = await askAiSdk(throwing(error)).catch((caught: unknown) => caught);
    expect(thrown).toMatchObject(expected);
    expect(inspect(thrown, { depth: 9 })).not.toContain('PROMPT-CANARY');
  });

  it('in the midst of an answer is classed by what the part says', async () => {
    const overloaded = { type: 'overloaded_error', message: 'busy' };
    await expect(askAiSdk(answering([...TEXT, { type: 'error', error: overloaded }]))).rejects.toMatchObject({ type: 'Model.Overloaded' });
    const limited = { error: { code: 'rate_limit_exceeded', message: 'slow' } };
    await expect(askAiSdk(answering([...TEXT, { type: 'error', error: limited }]))).rejects.toMatchObject({ type: 'Model.RateLimited' });
    await expect(askAiSdk(answering([...TEXT, { type: 'error', error: 'words' }]))).rejects.toMatchObject({ message: 'words' });
    const failed: LanguageModelV3StreamPart = { ...FINISH, finishReason: { unified: 'error', raw: undefined } };
    await expect(askAiSdk(answering([...TEXT, failed]))).rejects.toMatchObject({ type: 'Model.Overloaded' });
  });

  it('hides the keys that the config was handed', async () => {
    const keys = captureKeys({ SOME_KEY: 'canary-0123456789' }, ['SOME_KEY']);
    const error: unknown = await createAiSdkProvider(
      { languageModel: (_, { key }) => throwing(new Error(`refused ${key('env:SOME_KEY')}`)) },
      { keys, env: {} },
    )
      .call(modelRequest())
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'ModelError', message: 'refused [redacted]' });
    expect(inspect(error, { depth: 9 })).not.toContain('canary');
  });

  it('is the reason of the signal once that is aborted, also of a model that does not mind it', async () => {
    const before = new AbortController();
    before.abort(new Error('before'));
    await expect(askAiSdk(answering([...TEXT, FINISH]), { signal: before.signal })).rejects.toThrow('before');
    const during = new AbortController();
    const deaf = new MockLanguageModelV3({ doStream: () => new Promise(() => during.abort(new Error('during'))) });
    await expect(askAiSdk(deaf, { signal: during.signal })).rejects.toThrow('during');
    const within = new AbortController();
    const silent = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => TEXT.forEach((part) => controller.enqueue(part)),
    });
    const reading = askAiSdk(new MockLanguageModelV3({ doStream: { stream: silent } }), {
      signal: within.signal,
      onDelta: () => within.abort(new Error('within')),
    });
    await expect(reading).rejects.toThrow('within');
  });

  it('by silence is Model.StreamIdle, before the first part and after it; a raw chunk is no silence', async () => {
    const deaf = new MockLanguageModelV3({ doStream: () => new Promise(() => undefined) });
    await expect(askAiSdk(deaf, { idleMs: 30 })).rejects.toMatchObject({ type: 'Model.StreamIdle' });
    const silent = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => TEXT.forEach((part) => controller.enqueue(part)),
    });
    await expect(askAiSdk(new MockLanguageModelV3({ doStream: { stream: silent } }), { idleMs: 30 })).rejects.toMatchObject({
      type: 'Model.StreamIdle',
    });
    const pings = Array.from({ length: 8 }, (): LanguageModelV3StreamPart => ({ type: 'raw', rawValue: 'ping' }));
    const slow = simulateReadableStream({ chunks: [...pings, ...TEXT, FINISH], chunkDelayInMs: 30 });
    await expect(askAiSdk(new MockLanguageModelV3({ doStream: { stream: slow } }), { idleMs: 200 })).resolves.toMatchObject({
      stop: 'end',
    });
  });

  it('after the finish does no harm, also when the source never closes', async () => {
    const parts = [...TEXT, FINISH];
    const broken = ReadableStream.from(
      (async function* () {
        yield* parts;
        throw new Error('late');
      })(),
    );
    const held = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => parts.forEach((part) => controller.enqueue(part)),
    });
    await expect(askAiSdk(new MockLanguageModelV3({ doStream: { stream: held } }), { idleMs: 50 })).resolves.toMatchObject({ stop: 'end' });
    await expect(askAiSdk(new MockLanguageModelV3({ doStream: { stream: broken } }))).resolves.toMatchObject({ stop: 'end' });
  });
});

function api(statusCode: number | undefined, more: Partial<ConstructorParameters<typeof APICallError>[0]> = {}): APICallError {
  return new APICallError({
    message: 'told by the server',
    url: 'http://127.0.0.1:1/v1',
    requestBodyValues: { prompt: 'PROMPT-CANARY' },
    ...(statusCode === undefined ? {} : { statusCode }),
    ...more,
  });
}
