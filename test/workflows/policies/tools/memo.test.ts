import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MEMO_LIMITS } from '../../../../src/contracts/constants/limits.js';
import type { JsonValue, Message, ToolCallPart } from '../../../../src/contracts/schemas/message.js';
import { answerFromMemo, recall, remember } from '../../../../src/workflows/policies/tools/memo.js';

const PURE = { pure: true, effect: 'read' } as const;
const READ = { pure: false, effect: 'read' } as const;
const ONCE = { pure: false, effect: 'once' } as const;

describe('memo: what is remembered', () => {
  it('given a pure tool that answered, then the same call is recalled, whatever the order of its keys', () => {
    const memo = new Map<string, string>();
    remember(memo, { call: call('1', { a: 1, b: 2 }), tool: PURE, isError: false });
    expect(recall(memo, call('2', { b: 2, a: 1 }), PURE)).toBe('1');
    expect(recall(memo, call('2', { a: 1, b: 3 }), PURE)).toBeUndefined();
  });

  it('given a pure tool that failed, then the next call runs', () => {
    const memo = new Map<string, string>();
    remember(memo, { call: call('1'), tool: PURE, isError: true });
    expect(recall(memo, call('2'), PURE)).toBeUndefined();
  });

  it('given a tool that only reads, then it is neither remembered nor recalled', () => {
    const memo = new Map<string, string>();
    remember(memo, { call: call('1'), tool: READ, isError: false });
    expect(memo.size).toBe(0);
    remember(memo, { call: call('1'), tool: PURE, isError: false });
    expect(recall(memo, call('2'), READ)).toBeUndefined();
    expect(recall(memo, call('2'), undefined)).toBeUndefined();
  });

  it.each([true, false])('given a call that may have changed the world (failed: %s), then all is forgotten', (isError) => {
    const memo = new Map<string, string>();
    remember(memo, { call: call('1'), tool: PURE, isError: false });
    remember(memo, { call: call('2'), tool: ONCE, isError });
    expect(memo.size).toBe(0);
  });

  it('given a read that is not pure, then what is remembered stays', () => {
    const memo = new Map<string, string>();
    remember(memo, { call: call('1'), tool: PURE, isError: false });
    remember(memo, { call: call('2'), tool: READ, isError: false });
    expect(recall(memo, call('3'), PURE)).toBe('1');
  });

  it('given more answers than it may hold, then the oldest is forgotten, and one asked again is young', () => {
    const memo = new Map<string, string>();
    for (let n = 0; n < MEMO_LIMITS.entriesMax; n += 1) remember(memo, { call: call(`${n}`, { n }), tool: PURE, isError: false });
    remember(memo, { call: call('again', { n: 0 }), tool: PURE, isError: false });
    remember(memo, { call: call('new', { n: -1 }), tool: PURE, isError: false });
    expect(memo.size).toBe(MEMO_LIMITS.entriesMax);
    expect(recall(memo, call('x', { n: 0 }), PURE)).toBe('again');
    expect(recall(memo, call('x', { n: 1 }), PURE)).toBeUndefined();
    expect(recall(memo, call('x', { n: 2 }), PURE)).toBe('2');
  });

  it('whatever calls end, what is recalled is the last success of that very call since the last change', () => {
    const ended = fc.record({
      args: fc.constantFrom<JsonValue>({ n: 1 }, { n: 2 }, { n: 3 }),
      tool: fc.constantFrom(PURE, READ, ONCE),
      isError: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(ended, { maxLength: 30 }), (calls) => {
        const memo = new Map<string, string>();
        for (const [index, { args, ...one }] of calls.entries()) remember(memo, { call: call(`${index}`, args), ...one });
        const sinceChange = calls.findLastIndex(({ tool }) => tool === ONCE) + 1;
        for (const n of [1, 2, 3]) {
          const last = calls.findLastIndex(({ args, tool, isError }) => isN(args, n) && tool === PURE && !isError);
          expect(recall(memo, call('x', { n }), PURE)).toBe(last >= sinceChange && last >= 0 ? `${last}` : undefined);
        }
      }),
    );
  });
});

describe('answerFromMemo', () => {
  it('the answer has the same parts under the new call, and the earlier message stays as it is', () => {
    const earlier = toolMessage('1', 'found');
    const answer = answerFromMemo({ call: call('9'), of: '1', turn: 4 }, [user('go'), earlier]);
    expect(answer).toEqual({ ...toolMessage('9', 'found'), turn: 4 });
    expect(earlier).toEqual(toolMessage('1', 'found'));
  });

  it('given an earlier result that was compacted away, then there is no answer', () => {
    expect(answerFromMemo({ call: call('9'), of: '1', turn: 4 }, [user('go'), toolMessage('2', 'other')])).toBeUndefined();
  });

  it('given an earlier result that stands there as a failure, then there is no answer', () => {
    expect(answerFromMemo({ call: call('9'), of: '1', turn: 4 }, [toolMessage('1', 'lost', true)])).toBeUndefined();
  });
});

function call(callId: string, args: JsonValue = {}): ToolCallPart {
  return { type: 'tool_call', callId, name: 'lookup', args };
}

function isN(args: JsonValue, n: number): boolean {
  return JSON.stringify(args) === JSON.stringify({ n });
}

function toolMessage(callId: string, text: string, isError = false): Message {
  return { id: callId, role: 'tool', parts: [{ type: 'tool_result', callId, isError, parts: [{ type: 'text', text }] }] };
}

function user(text: string): Message {
  return { id: 'u', role: 'user', parts: [{ type: 'text', text }] };
}
