import { expect, test } from 'vitest';
import type { ModelRequest, StreamDelta } from '../../../src/providers/contract/provider.js';
import { createStubProvider } from '../../../src/providers/executor/stub.js';

const NOTHING = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

test('stub: every question has the same answer, streamed, without calls and at no cost', async () => {
  const deltas: StreamDelta[] = [];
  const stub = createStubProvider({ kind: 'stub', answer: 'forty-two' });
  for (const toolChoice of ['auto', 'none'] as const) {
    const answer = await stub.call(request({ toolChoice, onDelta: (delta) => deltas.push(delta) }));
    expect(answer).toEqual({ parts: [{ type: 'text', text: 'forty-two' }], stop: 'end', usage: NOTHING });
  }
  expect(deltas).toEqual([
    { type: 'text', text: 'forty-two' },
    { type: 'text', text: 'forty-two' },
  ]);
});

test('stub: a call that was stopped before it began rejects with the reason', async () => {
  const stub = createStubProvider({ kind: 'stub', answer: 'forty-two' });
  await expect(stub.call(request({ signal: AbortSignal.abort(new Error('stopped')) }))).rejects.toThrow('stopped');
});

function request(more: Partial<ModelRequest>): ModelRequest {
  return {
    model: 'fixed',
    prompt: 'x',
    messages: [{ id: 'm0', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    tools: [{ name: 'look_up', description: 'Looks up.', schema: { type: 'object' } }],
    toolChoice: 'auto',
    outputTokensMax: 1_000,
    idleMs: 1_000,
    signal: new AbortController().signal,
    onDelta: () => undefined,
    ...more,
  };
}
