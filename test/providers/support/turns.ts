import type { Message, Part } from '../../../src/contracts/schemas/message.js';

/** What a user says. */
export function user(text: string): Message {
  return { id: 'u', role: 'user', parts: [{ type: 'text', text }] };
}

/** What a model says. */
export function answer(text: string): Message {
  return { id: 'a', role: 'assistant', parts: [{ type: 'text', text }] };
}

/** An answer that calls a tool once for each id. */
export function calls(...callIds: readonly string[]): Message {
  const parts = callIds.map((callId): Part => ({ type: 'tool_call', callId, name: 'read_file', args: { path: callId } }));
  return { id: `a-${callIds.join()}`, role: 'assistant', parts };
}

/** The results of those calls. */
export function results(...callIds: readonly string[]): Message {
  const parts = callIds.map(
    (callId): Part => ({ type: 'tool_result', callId, isError: false, parts: [{ type: 'text', text: `of ${callId}` }] }),
  );
  return { id: `t-${callIds.join()}`, role: 'tool', parts };
}
