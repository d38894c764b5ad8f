import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolCallsOf } from '../../../../src/contracts/message-text.js';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import { appendOnce, isPaired, repairHistory } from '../../../../src/workflows/policies/transcript/repair-transcript.js';
import { answer, task, toolGroup, user } from '../support/transcripts.js';

/** Few ids and texts, so that orphans, repeats and empty turns are common. */
const callId = fc.constantFrom('a', 'b', 'c');
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.constantFrom('', ' ', 'x', 'y').map((text): Part => ({ type: 'text', text })),
  fc.constant<Part>({ type: 'thinking', text: 'hm' }),
  fc
    .tuple(callId, fc.constantFrom('look', ' look ', '', ' ', 'n'.repeat(65)))
    .map(([id, name]): Part => ({ type: 'tool_call', callId: id, name, args: {} })),
  callId.map((id): Part => ({ type: 'tool_result', callId: id, isError: false, parts: [] })),
);
const history: fc.Arbitrary<Message[]> = fc.array(
  fc.record({
    id: fc.constantFrom('1', '2', '3'),
    role: fc.constantFrom('user', 'assistant', 'tool'),
    parts: fc.array(part, { maxLength: 3 }),
  }),
  { maxLength: 10 },
);

describe('repairHistory', () => {
  it('whatever is given comes back paired, without empty turns, repeats and unusable names; repairing again changes nothing', () => {
    fc.assert(
      fc.property(history, (given) => {
        const { messages } = repairHistory(given);
        expect(isPaired(messages)).toBe(true);
        for (const { name } of messages.flatMap(toolCallsOf)) expect(name).toMatch(/^\S{1,64}$/u);
        for (const { parts } of messages) expect(parts.length).toBeGreaterThan(0);
        expect(repairHistory(messages)).toEqual({ messages, repairs: 0 });
      }),
      { numRuns: 500 },
    );
  });

  it('a history that is right is the very same one', () => {
    const given = [task(), ...toolGroup('a', 'seen'), answer('b', 'done')];
    expect(repairHistory(given)).toEqual({ messages: given, repairs: 0 });
    expect(repairHistory(given).messages).toBe(given);
  });

  it('D-13: empty turns of the model and adjacent duplicates go, tool messages are exempt', () => {
    const [, result] = toolGroup('a', 'seen');
    const calls: Message = {
      id: 'a',
      role: 'assistant',
      parts: ['a_0', 'a_1'].map((id) => ({ type: 'tool_call', callId: id, name: 'look', args: {} })),
    };
    const second: Message = {
      id: 'a_1',
      role: 'tool',
      parts: [{ type: 'tool_result', callId: 'a_1', isError: false, parts: [{ type: 'text', text: 'seen' }] }],
    };
    const given = [user('1', 'go'), user('2', 'go'), { id: 'e', role: 'assistant' as const, parts: [] }, calls, result ?? task(), second];
    const { messages, repairs } = repairHistory(given);
    expect(messages.map(({ id }) => id)).toEqual(['2', 'a', 'a_0', 'a_1']);
    expect(repairs).toBe(2);
  });

  it('two equal steers are two: each was acknowledged', () => {
    const given = [task(), user('s1', 'go on', 'steer'), user('s2', 'go on', 'steer')];
    expect(repairHistory(given).messages).toBe(given);
  });

  it('C-28: names of tools are trimmed; calls with an empty or over-long name go, with their results', () => {
    const { messages } = repairHistory([
      task(),
      ...named('a', ' look\n'),
      ...named('b', ''),
      ...named('c', 'n'.repeat(65)),
      answer('d', 'done'),
    ]);
    expect(messages.map(({ id }) => id)).toEqual(['task', 'a', 'a_0', 'd']);
    expect(messages.flatMap(toolCallsOf)[0]?.name).toBe('look');
  });
});

describe('appendOnce', () => {
  it('D-13: a message that the history already ends with is not there twice', () => {
    expect(appendOnce([answer('a', 'hi'), user('old', 'do it')], task('do it'))).toEqual([answer('a', 'hi'), task('do it')]);
  });

  it('D-13: the same words further up do not swallow a new message', () => {
    const given = [user('old', 'do it'), answer('a', 'done')];
    expect(appendOnce(given, task('do it'))).toEqual([...given, task('do it')]);
  });
});

/** A call of a tool by that name, with its result. */
function named(id: string, name: string): Message[] {
  return toolGroup(id, 'seen').map((message) => ({
    ...message,
    parts: message.parts.map((given) => (given.type === 'tool_call' ? { ...given, name } : given)),
  }));
}
