import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderQuirks } from '../../../src/define/provider-quirks.js';
import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import { type RawServer, startRawServer, streamOf } from '../support/raw-server.js';
import { modelRequest } from '../support/wire.js';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

const START: Event = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 3, output_tokens: 1 } } };
const END: readonly Event[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
];

const begin = (index: number, content_block: unknown): Event => ({ type: 'content_block_start', index, content_block });
const piece = (index: number, delta: unknown): Event => ({ type: 'content_block_delta', index, delta });
const stop = (index: number): Event => ({ type: 'content_block_stop', index });
const text = (index: number, words: unknown): Event => piece(index, { type: 'text_delta', text: words });
const TEXT = { type: 'text', text: '' };

describe('a stream of messages that is not as documented', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerTo = (...events: readonly Event[]) => answerOf([START, ...events, ...END]);

  const answerOf = (events: readonly Event[], quirks: ProviderQuirks = {}) => {
    server.answerWith(streamOf(...events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)));
    return createAnthropicProvider({ baseUrl: server.url, apiKey: 'test-key-0123456789', quirks }).call(modelRequest());
  };

  it('blocks that share an index are all in the answer', async () => {
    const call = { type: 'tool_use', id: 'call_1', name: 'read_file', input: {} };
    const args = piece(0, { type: 'input_json_delta', partial_json: '{"path":"a.md"}' });
    const { parts } = await answerTo(begin(0, TEXT), text(0, 'I read it.'), stop(0), begin(0, call), args, stop(0));
    expect(parts).toEqual([
      { type: 'text', text: 'I read it.' },
      { type: 'tool_call', callId: 'call_1', name: 'read_file', args: { path: 'a.md' } },
    ]);
  });

  it('a piece of a block whose beginning is missing makes the answer unreadable: its text would be missing in silence', async () => {
    await expect(answerTo(text(0, 'Half of it.'), stop(0))).rejects.toMatchObject({ type: 'Model.BadResponse' });
  });

  it.each([null, undefined])('a piece whose text is %s says nothing', async (nothing) => {
    const { parts } = await answerTo(begin(0, TEXT), text(0, nothing), text(0, 'All.'), stop(0));
    expect(parts).toEqual([{ type: 'text', text: 'All.' }]);
  });

  it.each([5, {}, ['a']])('a piece whose text is %j makes the answer unreadable', async (value) => {
    await expect(answerTo(begin(0, TEXT), text(0, value), stop(0))).rejects.toMatchObject({ type: 'Model.BadResponse' });
  });

  it('a call without id and name is one that the model can be told of, and that can be sent back', async () => {
    const { parts } = await answerTo(begin(0, { type: 'tool_use', id: null, input: {} }), stop(0));
    expect(parts).toEqual([{ type: 'tool_call', callId: '', name: '', args: {} }]);
  });

  it('without message_stop it is complete for a provider that says it never sends one, once a stop reason came, and only then', async () => {
    const said = [START, begin(0, TEXT), text(0, 'I read it.'), stop(0)];
    const lenient = { strictTerminal: false };
    await expect(answerOf([...said, ...END.slice(0, 1)], lenient)).resolves.toMatchObject({ stop: 'end' });
    await expect(answerOf([...said, ...END.slice(0, 1)])).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
    await expect(answerOf(said, lenient)).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  });
});
