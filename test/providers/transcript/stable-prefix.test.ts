import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { toAnthropicBody } from '../../../src/providers/anthropic/body.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { toChatBody } from '../../../src/providers/openai/chat/body.js';
import { toResponsesBody } from '../../../src/providers/openai/responses/body.js';
import { answer, calls, results, user } from '../support/turns.js';
import { modelRequest } from '../support/wire.js';

const SETTINGS = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'none', quirks: {} };

/** Prompt and tools of a request, and what follows them, piece by piece, as they are sent. */
interface Sent {
  readonly head: string;
  readonly pieces: readonly string[];
}

/** Each format: how it sends a request. */
const FORMATS: readonly { readonly name: string; readonly send: (request: ModelRequest) => Sent }[] = [
  {
    name: 'messages',
    send(request) {
      const { body } = toAnthropicBody(request, { quirks: {}, account: 'test' });
      const { messages, system, tools } = body;
      const pieces = messages.flatMap(({ role, content }) => [content].flat().map((block) => unmarked([role, block])));
      return { head: unmarked([system, tools]), pieces };
    },
  },
  {
    name: 'chat completions',
    send(request) {
      const { messages, tools } = toChatBody(request, SETTINGS).body;
      return { head: JSON.stringify(tools), pieces: messages.map((message) => JSON.stringify(message)) };
    },
  },
  {
    name: 'responses',
    send(request) {
      const { input, instructions, tools } = toResponsesBody(request, SETTINGS);
      const items = typeof input === 'object' ? input : [];
      return { head: JSON.stringify([instructions, tools]), pieces: items.map((item) => JSON.stringify(item)) };
    },
  },
];

/** Marks move on; they are no part of what is kept. */
function unmarked(value: unknown): string {
  return JSON.stringify(value, (key, field: unknown) => (key === 'cache_control' ? undefined : field));
}

/** What may happen in a turn, and whether its request carried a warning of its own. */
const turns = fc.array(
  fc.record({
    does: fc.constantFrom<'calls' | 'answers' | 'says nothing' | 'pauses'>('calls', 'answers', 'says nothing', 'pauses'),
    steered: fc.boolean(),
    warned: fc.boolean(),
    count: fc.integer({ min: 1, max: 25 }),
  }),
  { minLength: 2, maxLength: 12 },
);

type Turn = typeof turns extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

/** What a turn adds to the transcript. */
function added({ does, steered, count }: Turn, index: number): Message[] {
  const ids = Array.from({ length: count }, (_, at) => `c${index}-${at}`);
  const said = steered ? [user(`Steer ${index}.`)] : [];
  if (does === 'calls') return [calls(...ids), results(...ids), ...said];
  if (does === 'pauses') return [answer(`Half ${index}`)];
  return [answer(does === 'answers' ? `Answer ${index}` : ''), user(`Go on ${index}.`), ...said];
}

describe.each(FORMATS)('the requests of a run over $name', ({ send }) => {
  it('hold all that the request before held, byte for byte and in its place, up to what was said in that one only', () => {
    fc.assert(
      fc.property(turns, (happened) => {
        let messages: Message[] = [user('Begin.')];
        let before: readonly string[] = [];
        for (const [index, turn] of happened.entries()) {
          const warning = turn.warned ? [user('Few turns are left.')] : [];
          const request = modelRequest({ messages: [...messages, ...warning], requestOnlyMessages: warning.length });
          const kept = send(modelRequest({ messages }));
          const { head, pieces } = send(request);
          expect(head).toBe(kept.head);
          expect(pieces.slice(0, before.length)).toEqual(before);
          expect(pieces).toHaveLength(kept.pieces.length + warning.length);
          before = kept.pieces;
          messages = [...messages, ...added(turn, index)];
        }
      }),
      { numRuns: 200 },
    );
  });

  it('have the same tools in the same order, whatever else differs', () => {
    const first = send(modelRequest({}));
    expect(send(modelRequest({ toolChoice: 'none', outputTokensMax: 300, messages: [user('Other.')] })).head).toBe(first.head);
  });
});
