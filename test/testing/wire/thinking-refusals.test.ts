import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signatureOf } from '../../../src/providers/anthropic/server/thinking-rules.js';
import { startWireServer, type WireServer } from '../../../src/testing/wire-server.js';
import { ask, messagesBody } from '../support/wire-client.js';

const ENABLED = { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 4_096 };
const ADAPTIVE = { thinking: { type: 'adaptive' }, max_tokens: 4_096 };
const USER = { role: 'user', content: 'Sort the notes.' };
const THOUGHT = { type: 'thinking', thinking: 'Let me see.', signature: signatureOf('Let me see.') };
const CALL = { type: 'tool_use', id: 'c1', name: 'read_file', input: {} };
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'milk' }] };
const answer = (...content: readonly object[]) => ({ role: 'assistant', content });

describe('thinking over messages', () => {
  let server: WireServer;
  beforeAll(async () => {
    server = await startWireServer({ script: { steps: [{ thinking: 'Let me see.', text: 'So.' }], loop: true } });
  });
  afterAll(() => server.close());

  const statusOf = async (fields: object) => (await ask(server, 'anthropic', messagesBody(fields))).status;

  it.each([
    ['an answer that began by thinking, with its results', { ...ENABLED, messages: [USER, answer(THOUGHT, CALL), RESULT] }],
    ['an answer that did not, once a user spoke', { ...ENABLED, messages: [USER, answer({ type: 'text', text: 'So.' }), USER] }],
    ['an answer that did not, of a model that decides', { ...ADAPTIVE, messages: [USER, answer(CALL), RESULT] }],
    ['a redacted thought', { ...ENABLED, messages: [USER, answer({ type: 'redacted_thinking', data: 'x' }, CALL), RESULT] }],
    ['a thought while thinking is off', { thinking: { type: 'disabled' }, messages: [USER, answer(THOUGHT, CALL), RESULT] }],
  ])('takes %s', async (_, fields) => {
    expect(await statusOf(fields)).toBe(200);
  });

  it.each([
    ['a budget without room for an answer', { ...ENABLED, max_tokens: 1_024 }, '`max_tokens` must be greater'],
    ['a budget that is too small', { ...ENABLED, thinking: { type: 'enabled', budget_tokens: 1_000 } }, 'greater than or equal to 1024'],
    ['a forced call', { ...ENABLED, tool_choice: { type: 'any' } }, 'Thinking may not be enabled when tool_choice forces tool use'],
    ['a forced call of a model that decides', { ...ADAPTIVE, tool_choice: { type: 'any' } }, 'Thinking may not be enabled'],
    [
      'results of an answer that did not think',
      { ...ENABLED, messages: [USER, answer(CALL), RESULT] },
      'messages.1.content.0.type: Expected',
    ],
    [
      'a thought at the end while thinking is off',
      { thinking: { type: 'disabled' }, messages: [USER, answer(THOUGHT)] },
      'messages.1.content.0: When thinking is disabled',
    ],
    [
      'a mark on a thought',
      { messages: [USER, answer({ ...THOUGHT, cache_control: { type: 'ephemeral' } }, { type: 'text', text: 'So.' }), USER] },
      'cache_control: Extra inputs are not permitted',
    ],
  ])('refuses %s', async (_, fields, problem) => {
    const reply = await ask(server, 'anthropic', messagesBody(fields));
    expect(reply).toMatchObject({ status: 400, text: expect.stringContaining(problem) });
  });

  it('binds what a model that decides thinks to all that it read, marks apart', async () => {
    const warned = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Sort.' },
          { type: 'text', text: 'Few turns are left.' },
        ],
      },
    ];
    const { content }: { content: object[] } = JSON.parse(
      (await ask(server, 'anthropic', messagesBody({ ...ADAPTIVE, messages: warned }))).text,
    );
    const marked = [{ role: 'user', content: warned[0]?.content.map((block) => ({ ...block, cache_control: { type: 'ephemeral' } })) }];
    const unwarned = [{ role: 'user', content: warned[0]?.content.slice(0, 1) }];
    const again = (before: readonly object[], fields = {}) =>
      statusOf({ ...ADAPTIVE, ...fields, messages: [...before, answer(...content), USER] });
    expect(await again(warned)).toBe(200);
    expect(await again(marked)).toBe(200);
    expect(await again(unwarned)).toBe(400);
    expect(await again(warned, { system: 'Other.' })).toBe(400);
  });
});
