import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../../src/define/provider-quirks.js';
import { KNOWN_PROVIDERS } from '../../../../src/providers/access/provider-catalog.js';
import { toChatBody } from '../../../../src/providers/openai/chat/body.js';
import { createOpenAiChatProvider } from '../../../../src/providers/openai/chat/chat.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { answer, calls, results, user } from '../../support/turns.js';
import { modelRequest } from '../../support/wire.js';

const GEMINI = KNOWN_PROVIDERS['gemini']?.quirks ?? {};
const MODEL = 'gemini-3.8-flash';

const signature = (text: string) => ({ extra_content: { google: { thought_signature: text } } });

/** A call as the server streams it, in one piece. */
const piece = (index: number, fields: object = {}) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'read_file', arguments: '{}' },
  ...fields,
});

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

describe('signatures of calls', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const ask = async (deltas: readonly object[], quirks: ProviderQuirks = GEMINI) => {
    server.answerWith(streamOf(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'), 'data: [DONE]\n\n'));
    const provider = createOpenAiChatProvider({ baseUrl: `${server.url}/v1`, apiKey: 'k', quirks });
    const { parts } = await provider.call(modelRequest({ model: MODEL }));
    return parts;
  };

  it('that a server sends with a call, or with the answer, go back with that call in each later request', async () => {
    for (const deltas of [
      [{ tool_calls: [piece(0, signature('sig-A')), piece(1)] }],
      [{ tool_calls: [piece(0), piece(1)] }, { tool_calls: [{ index: 0, function: { arguments: '' }, ...signature('sig-A') }] }],
      [{ content: 'Reading.', ...signature('sig-A') }, { tool_calls: [piece(0), piece(1)] }],
      [{ tool_calls: [piece(0), piece(1)], ...signature('sig-A') }],
    ]) {
      const parts = await ask(deltas);
      const first = [user('Go.'), said(parts), results('call_0', 'call_1')];
      expect(sentCalls(first)).toMatchObject([[signature('sig-A'), { id: 'call_1' }]]);
      expect(sentCalls(first)[0]?.[1]).not.toHaveProperty('extra_content');
      const later = [...first, answer('So.'), user('More.'), said(await ask([{ tool_calls: [piece(2, signature('sig-B'))] }]))];
      expect(sentCalls(later).flat()).toMatchObject([signature('sig-A'), { id: 'call_1' }, signature('sig-B')]);
      expect(sentMessages(later).slice(0, sentMessages(first).length)).toEqual(sentMessages(first));
    }
  });

  it('are no part of the answer of a server that is not said to want them, and do not go to one', async () => {
    const delta = { tool_calls: [piece(0, signature('sig-A'))] };
    expect(JSON.stringify(await ask([delta], {}))).not.toContain('sig-A');
    const signed = said(await ask([delta]));
    expect(JSON.stringify(signed)).toContain('sig-A');
    expect(JSON.stringify(sentCalls([user('Go.'), signed], { quirks: {} }))).not.toMatch(/sig-A|extra_content/u);
  });

  it.each([{ google: 'x' }, { google: { thought_signature: 7 } }, { google: { thought_signature: '' } }, null, 'x'])(
    'of no known shape are none: %j',
    async (extra_content) => {
      const [call] = await ask([{ tool_calls: [piece(0, { extra_content })] }]);
      expect(call).toEqual({ type: 'tool_call', callId: 'call_0', name: 'read_file', args: {} });
    },
  );
});

describe('a call without a signature of this server', () => {
  const skipped = signature('skip_thought_signature_validator');

  it.each([undefined, 'no JSON', '{"aiSdk":"google","metadata":{}}', '{"thoughtSignature":7}', '{"thoughtSignature":"s","more":1}'])(
    'goes back with the word for one, the first of its answer, and with nothing that another made: %s',
    (opaque) => {
      const foreign = calls('c1', 'c2');
      const parts = foreign.parts.map((part) => ({ ...part, ...(opaque === undefined ? {} : { opaque }) }));
      const [sent = []] = sentCalls([user('Go.'), said(parts)]);
      expect(sent).toMatchObject([skipped, { id: 'c2' }]);
      expect(sent[1]).not.toHaveProperty('extra_content');
    },
  );

  it.each(['gemini-2.5-flash', 'models/gemini-2.0-flash', 'gemini-1.5-pro'])('goes back as it is to %s, which misses none', (model) => {
    expect(JSON.stringify(sentCalls([user('Go.'), calls('c1')], { model }))).not.toContain('extra_content');
  });
});

function said(parts: readonly Part[]): Message {
  return { id: 'a', role: 'assistant', parts: [...parts] };
}

interface Sending {
  readonly quirks?: ProviderQuirks;
  readonly model?: string;
}

function sentMessages(messages: readonly Message[], { quirks = GEMINI, model = MODEL }: Sending = {}) {
  const request = modelRequest({ model, messages });
  return toChatBody(request, { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'none', quirks }).body.messages;
}

/** The calls of each answer that is sent. */
function sentCalls(messages: readonly Message[], sending?: Sending) {
  return sentMessages(messages, sending).flatMap((message) => ('tool_calls' in message && message.tool_calls ? [message.tool_calls] : []));
}
