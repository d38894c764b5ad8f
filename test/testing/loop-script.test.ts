import { expect, it } from 'vitest';
import { loopScript } from '../../src/testing/loop-script.js';
import { startWireServer } from '../../src/testing/wire-server.js';
import { ask, chatBody } from './support/wire-client.js';

interface Reply {
  choices: [{ message: { content: string; tool_calls?: [{ id: string; function: { arguments: string } }] } }];
}

it('loopScript: a call with fresh arguments in every turn but the last, each answer of the same size', async () => {
  const server = await startWireServer({ script: loopScript({ turns: 4, answerBytes: 1_024 }) });
  const messages: object[] = [{ role: 'user', content: 'Go.' }];
  const calls: string[] = [];
  for (let turn = 1; turn <= 4; turn += 1) {
    const reply: Reply = JSON.parse((await ask(server, 'openai-chat', chatBody({ messages }))).text);
    const { message } = reply.choices[0];
    expect(Buffer.byteLength(message.content)).toBe(1_024);
    messages.push({ role: 'assistant', content: message.content, ...(message.tool_calls ? { tool_calls: message.tool_calls } : {}) });
    for (const call of message.tool_calls ?? []) {
      calls.push(call.function.arguments);
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'x' });
    }
  }
  expect(calls).toEqual(['{"turn":"1"}', '{"turn":"2"}', '{"turn":"3"}']);
  await server.close();
});

it('loopScript: no turns is a RangeError', () => {
  expect(() => loopScript({ turns: 0 })).toThrow(RangeError);
});
