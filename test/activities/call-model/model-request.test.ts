import { describe, expect, it } from 'vitest';
import { buildModelRequest, type RequestParts } from '../../../src/activities/call-model/model-request.js';
import type { CallModelInput } from '../../../src/contracts/activities.js';
import type { Message, Part } from '../../../src/contracts/schemas/message.js';

const input: CallModelInput = {
  runId: 'r',
  executionId: 'e',
  base: { length: 0, digest: '' },
  tail: [],
  digest: '',
  turn: 1,
  model: 'a/one',
  setupHash: '',
  requestOnly: [],
  toolChoice: 'auto',
};

const picture: Part = { type: 'file', mime: 'image/png', dataBase64: 'AAAA' };
const messages: Message[] = [
  { id: 'task', role: 'user', parts: [{ type: 'text', text: 'look' }, picture] },
  { id: 'said', role: 'user', parts: [{ type: 'text', text: 'well?' }] },
  { id: 'seen', role: 'tool', parts: [{ type: 'tool_result', callId: 'c', isError: false, parts: [picture] }] },
];

const parts = (facts: RequestParts['facts']): RequestParts => ({
  model: 'one',
  facts,
  setup: { agent: 'a', prompt: 'p', tools: [] },
  messages,
  times: { idleMs: 1_000, totalMs: 10_000 },
  signal: new AbortController().signal,
  isRunOver: async () => false,
  onDelta: () => undefined,
});

describe('buildModelRequest', () => {
  it('a completion for an MCP server has its own prompt and no tools, and a temperature only for a model that is not known to think', () => {
    const sampling = { system: 'You see colours.', temperature: 0.5 };
    const tools = [{ name: 't', description: '', schema: {} }] as never;
    const given = { ...parts({}), setup: { agent: 'a', prompt: 'p', tools }, messages: [] };
    const asked = { ...input, requestOnly: messages, sampling };
    expect(buildModelRequest(asked, given)).toMatchObject({ prompt: 'You see colours.', tools: [], temperature: 0.5, messages });
    expect(buildModelRequest(asked, { ...given, facts: { thinkingStyle: 'none' } }).temperature).toBe(0.5);
    expect(buildModelRequest(asked, { ...given, facts: { thinkingStyle: 'effort' } })).not.toHaveProperty('temperature');
    expect(buildModelRequest(input, given)).toMatchObject({ prompt: 'p', tools });
  });

  it('a model that sees nothing is told of pictures, also of those in results; a message without one is the same object', () => {
    const request = buildModelRequest(input, parts({ images: false }));
    expect(request.messages[0]?.parts).toEqual([
      { type: 'text', text: 'look' },
      { type: 'text', text: '[file image/png]' },
    ]);
    expect(request.messages[1]).toBe(messages[1]);
    expect(request.messages[2]?.parts).toMatchObject([{ parts: [{ type: 'text', text: '[file image/png]' }] }]);
  });

  it.each([{}, { images: true }])('a model of which %j is known gets pictures as they are', (facts) => {
    expect(buildModelRequest(input, parts(facts)).messages).toEqual(messages);
  });

  it('a model is not allowed more output than it has', () => {
    expect(buildModelRequest({ ...input, outputTokensMax: 8_192 }, parts({ outputTokensMax: 4_096 })).outputTokensMax).toBe(4_096);
    expect(buildModelRequest({ ...input, outputTokensMax: 500 }, parts({ outputTokensMax: 4_096 })).outputTokensMax).toBe(500);
  });

  it('thinking is told as the model takes it, and a first byte has a limit only where it was given one', () => {
    const levels = { thinkingStyle: 'effort', thinkingLevels: ['low', 'high'] } as const;
    const request = buildModelRequest({ ...input, thinking: 'medium' }, parts({ ...levels, thinkingLevels: [...levels.thinkingLevels] }));
    expect(request.thinking).toEqual({ style: 'effort', effort: 'high' });
    expect(request).not.toHaveProperty('firstByteMs');
  });
});
