import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenAiResponsesProvider } from '../../../../src/providers/openai/responses/responses.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { modelRequest } from '../../support/wire.js';

type Event = { readonly type: string } & Record<string, unknown>;

const MESSAGE: Event = {
  type: 'response.output_item.added',
  output_index: 0,
  item: { id: 'msg_1', type: 'message', role: 'assistant', content: [] },
};
const END: Event = { type: 'response.completed', response: { status: 'completed', output: [] } };

const piece = (delta: unknown): Event => ({ type: 'response.output_text.delta', output_index: 0, delta });
const done = (item: object): Event => ({ type: 'response.output_item.done', output_index: 1, item });

describe('a response whose events are not as documented', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerTo = (...events: readonly Event[]) => {
    const stream = [MESSAGE, ...events, END].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    server.answerWith(streamOf(...stream));
    return createOpenAiResponsesProvider({ baseUrl: `${server.url}/v1`, apiKey: 'test-key-0123456789' }).call(modelRequest());
  };

  it('has all items that were given one place', async () => {
    const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a.md"}' };
    const said = { ...done({ id: 'msg_1', type: 'message', content: [] }), output_index: 0 };
    await expect(answerTo(piece('I read it.'), said, { ...done(call), output_index: 0 })).resolves.toMatchObject({
      stop: 'tool_calls',
      parts: [{ text: 'I read it.' }, { name: 'read_file', args: { path: 'a.md' } }],
    });
  });

  it.each([null, undefined])('has nothing of a piece whose text is %s', async (nothing) => {
    await expect(answerTo(piece(nothing), piece('All.'))).resolves.toMatchObject({ parts: [{ text: 'All.' }] });
  });

  it.each([
    ['a piece', piece(5)],
    ['a name', done({ id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 5, arguments: '{}' })],
    ['a summary', done({ id: 'rs_1', type: 'reasoning', encrypted_content: 'e', summary: 'So.' })],
  ])('is unreadable with %s that is no text', async (_, event) => {
    await expect(answerTo(event)).rejects.toMatchObject({ type: 'Model.BadResponse' });
  });
});
