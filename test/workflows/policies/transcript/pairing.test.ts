import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolCallsOf } from '../../../../src/contracts/message-text.js';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import { isPaired, repairPairing } from '../../../../src/workflows/policies/transcript/repair-transcript.js';

/** Few ids, so that collisions, orphans and strays are common. */
const callId = fc.constantFrom('a', 'b', 'c', 'a_2');
const text = fc.constantFrom('x', 'y').map((said): Part => ({ type: 'text', text: said }));
const call = callId.map((id): Part => ({ type: 'tool_call', callId: id, name: 'look', args: {} }));
const result = callId.map((id): Part => ({ type: 'tool_result', callId: id, isError: false, parts: [] }));
const message = fc.record({
  id: fc.string({ minLength: 1, maxLength: 3 }),
  role: fc.constantFrom('user', 'assistant', 'tool'),
  parts: fc.array(fc.oneof(text, call, result), { maxLength: 4 }),
}) satisfies fc.Arbitrary<Message>;
const transcript = fc.array(message, { maxLength: 12 });

describe('repairPairing', () => {
  it('whatever is given comes back paired, and repairing again changes nothing', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        const { messages } = repairPairing(given);
        expect(isPaired(messages)).toBe(true);
        expect(repairPairing(messages)).toEqual({ messages, repairs: 0 });
      }),
    );
  });

  it('no text and no call is lost, and their order is kept', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        const { messages } = repairPairing(given);
        expect(textsOf(messages)).toEqual(textsOf(given));
        expect(callsOf(messages).length).toBe(callsOf(given).length);
      }),
    );
  });

  it('a repair is counted exactly when the given transcript was not paired', () => {
    fc.assert(
      fc.property(transcript, (given) => {
        expect(repairPairing(given).repairs > 0).toBe(!isPaired(given));
      }),
    );
  });

  it('a paired transcript is the very same one', () => {
    const given = [user('go'), assistant(calls('1', '2')), tool('2'), tool('1'), assistant([{ type: 'text', text: 'done' }])];
    expect(repairPairing(given).messages).toBe(given);
  });

  it('a call without result is told as unknown, never as done', () => {
    const { messages, repairs } = repairPairing([user('go'), assistant(calls('1', '2')), tool('1'), user('and?')]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(messages[3]?.parts[0]).toMatchObject({ callId: '2', isError: true });
    expect(JSON.stringify(messages[3])).toContain('[outcome unknown]');
    expect(repairs).toBe(1);
  });

  it('a result that stands behind a later message is put back to its call, with what it said', () => {
    const { messages } = repairPairing([assistant(calls('1')), user('meanwhile'), tool('1', 'seen')]);
    expect(messages).toEqual([assistant(calls('1')), tool('1', 'seen'), user('meanwhile')]);
  });

  it('a result whose call was cut away is dropped', () => {
    expect(repairPairing([tool('1'), user('go')])).toEqual({ messages: [user('go')], repairs: 1 });
  });

  it('M22: an id used by two calls is made unique, and each call keeps its own result', () => {
    const { messages } = repairPairing([
      assistant(calls('1')),
      tool('1', 'first'),
      assistant(calls('1')),
      tool('1', 'second'),
      assistant(calls('1_2')),
      tool('1_2', 'third'),
    ]);
    expect(messages.flatMap(toolCallsOf).map((part) => part.callId)).toEqual(['1', '1_2', '1_2_2']);
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
      tool('1', 'first'),
      { parts: tool('1_2', 'second').parts },
      { parts: tool('1_2_2', 'third').parts },
    ]);
  });
});

function textsOf(messages: readonly Message[]): Part[] {
  return messages.flatMap(({ role, parts }) => (role === 'tool' ? [] : parts.filter(({ type }) => type === 'text')));
}

function callsOf(messages: readonly Message[]): Part[] {
  return messages.filter(({ role }) => role === 'assistant').flatMap(toolCallsOf);
}

function user(said: string): Message {
  return { id: `u-${said}`, role: 'user', parts: [{ type: 'text', text: said }] };
}

function assistant(parts: Part[]): Message {
  return { id: 'm', role: 'assistant', parts };
}

function calls(...ids: string[]): Part[] {
  return ids.map((id) => ({ type: 'tool_call', callId: id, name: 'look', args: {} }));
}

function tool(id: string, said = 'seen'): Message {
  return { id, role: 'tool', parts: [{ type: 'tool_result', callId: id, isError: false, parts: [{ type: 'text', text: said }] }] };
}
