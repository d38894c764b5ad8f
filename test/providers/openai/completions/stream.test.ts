import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenAiCompletionsProvider } from '../../../../src/providers/openai/completions/completions.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { modelRequest } from '../../support/wire.js';

describe('a stream of completions', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerTo = (...choices: readonly object[]) => {
    server.answerWith(streamOf(...choices.map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)));
    return createOpenAiCompletionsProvider({ baseUrl: `${server.url}/v1`, apiKey: 'test-key-0123456789' }).call(modelRequest());
  };

  it.each(['error', 'insufficient_system_resource'])('that ends by %s is no answer: its model failed in the midst', async (reason) => {
    await expect(answerTo({ text: 'So far' }, { text: '', finish_reason: reason })).rejects.toMatchObject({ type: 'Model.Overloaded' });
  });

  it.each(['length', 'max_tokens', 'model_length', 'model_context_window_exceeded'])('that ends by %s is cut', async (reason) => {
    await expect(answerTo({ text: 'So far', finish_reason: reason })).resolves.toMatchObject({ stop: 'length' });
  });

  it.each([5, {}, ['a']])('with a piece whose text is %j cannot be read', async (text) => {
    await expect(answerTo({ text }, { text: 'All.', finish_reason: 'stop' })).rejects.toMatchObject({ type: 'Model.BadResponse' });
  });
});
