import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { toOpenAiMessages } from '../../../src/providers/openai/chat/messages.js';
import { call, message, result, text } from '../support/message-parts.js';
import { toAnthropicMessages } from '../support/to-anthropic-messages.js';

const toOpenAi = (messages: readonly Message[]) =>
  toOpenAiMessages({ model: 'm', prompt: '', messages, tools: [] }, { baseUrl: 'http://127.0.0.1:1/v1' });

describe.each([
  ['messages', toAnthropicMessages],
  ['chat completions', toOpenAi],
] as const)('call ids over %s', (_, toWire) => {
  it('B34: that no provider would take are replaced, in call and result alike, and legal ones are kept', () => {
    const ids = ['ours_1_0', 'x'.repeat(500), 'a.b:c/ü', ''];
    const sent = JSON.stringify(toWire(ids.flatMap((id) => [message('assistant', call(id)), message('tool', result(id, text('ok')))])));
    const found = [...sent.matchAll(/"(?:id|tool_use_id|tool_call_id)":"([^"]*)"/gu)].map(([, id]) => id ?? '');
    expect(found).toHaveLength(ids.length * 2);
    expect(found[0]).toBe('ours_1_0');
    for (const id of found) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/u);
    for (let at = 0; at < found.length; at += 2) expect(found[at]).toBe(found[at + 1]);
    expect(new Set(found).size).toBe(ids.length);
  });

  it('B33: names that no provider would take are sent in letters that it takes, and no name as one', () => {
    const names = ['note', 'functions.note', 'notes/größe', '', 'x'.repeat(200)];
    const sent = JSON.stringify(names.map((name) => toWire([message('assistant', call('c1', { name }))])));
    const found = [...sent.matchAll(/"name":"([^"]*)"/gu)].map(([, name]) => name);
    expect(found).toEqual(['note', 'functions_note', 'notes_gr__e', 'unnamed', 'x'.repeat(64)]);
  });
});
