import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentPart, JsonValue, Message } from '../../../../src/contracts/schemas/message.js';
import { callSignature, resultSignature, turnShape, turnSignature } from '../../../../src/workflows/policies/loop/call-signature.js';
import { cpuMs } from '../../../support/cpu-time.js';

// json as it comes off a wire: no -0, which JSON text keeps and JSON values cannot tell from 0
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const args = fc
  .dictionary(fc.string({ maxLength: 8 }), json, { maxKeys: 6 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const call = fc.record({ name: fc.constantFrom('look', 'edit', 'run'), args });

describe('callSignature', () => {
  it('E-12: the order of keys is no difference, at any depth', () => {
    fc.assert(
      fc.property(call, ({ name, args: given }) => {
        expect(callSignature({ name, args: backwards(given) })).toBe(callSignature({ name, args: given }));
      }),
    );
  });

  it('E-12: the whole of long arguments counts, to the last character', () => {
    const long = 'x'.repeat(5_000);
    expect(callSignature({ name: 'write', args: { content: `${long}a` } })).not.toBe(
      callSignature({ name: 'write', args: { content: `${long}b` } }),
    );
  });

  it('another tool, another value and another order in a list are other calls', () => {
    const given = callSignature({ name: 'look', args: { at: [1, 2] } });
    expect(callSignature({ name: 'peek', args: { at: [1, 2] } })).not.toBe(given);
    expect(callSignature({ name: 'look', args: { at: [1, 3] } })).not.toBe(given);
    expect(callSignature({ name: 'look', args: { at: [2, 1] } })).not.toBe(given);
    expect(callSignature({ name: 'look', args: { at: ['1', 2] } })).not.toBe(given);
  });

  it('arguments that are no JSON differ by their text, and repaired ones only by what they say', () => {
    const broken = callSignature({ name: 'look', args: {}, argsText: '{"at": ' });
    expect(callSignature({ name: 'look', args: {}, argsText: '{"on": ' })).not.toBe(broken);
    expect(callSignature({ name: 'look', args: { at: 1 }, argsText: '{"at":1' })).toBe(callSignature({ name: 'look', args: { at: 1 } }));
  });
});

describe('turnSignature', () => {
  it('A-18: every call of the turn counts, and their order does not', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 5 }), fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), (calls, keys) => {
        const shuffled = calls
          .map((one, index) => ({ one, key: keys[index] ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(turnSignature(shuffled)).toBe(turnSignature(calls));
        expect(turnSignature([...calls, { name: 'other', args: {} }])).not.toBe(turnSignature(calls));
      }),
    );
  });

  it('the same call twice is another turn than once', () => {
    const look = { name: 'look', args: {} };
    expect(turnSignature([look, look])).not.toBe(turnSignature([look]));
  });
});

describe('turnShape', () => {
  it.each([
    ['a counter', { q: 'cats', page: 1 }, { q: 'cats', page: 2 }],
    ['a number in a text', { q: 'cats 1' }, { q: 'cats 22' }],
    ['spaces and punctuation', { q: 'all cats' }, { q: '"all"  cats!' }],
    ['case', { q: 'Cats' }, { q: 'cats' }],
    ['a random id', { q: 'cats', nonce: 'a1b2c3d4e5f6' }, { q: 'cats', nonce: 'f6e5d4c3b2a1' }],
    ['the order of keys', { q: 'cats', lang: 'en' }, { lang: 'en', q: 'cats' }],
  ])('%s is a slight difference', (_, one, other) => {
    expect(shape(one)).toBe(shape(other));
  });

  it('other words, other keys and another tool are no slight difference', () => {
    expect(shape({ q: 'dogs' })).not.toBe(shape({ q: 'cats' }));
    expect(shape({ text: 'cats' })).not.toBe(shape({ q: 'cats' }));
    expect(turnShape([{ name: 'find', args: { q: 'cats' } }])).not.toBe(shape({ q: 'cats' }));
  });

  it('long arguments differ by any character', () => {
    expect(shape({ q: '1'.repeat(3_000) })).not.toBe(shape({ q: '2'.repeat(3_000) }));
  });
});

describe('resultSignature', () => {
  it.each([
    ['an ISO time', 'built at 2026-11-21T13:38:40.123Z', 'built at 2026-11-21T14:00:01Z'],
    ['a mail date', 'Sat, 21 Nov 2026 13:38:40 GMT', 'Sat, 21 Nov 2026 13:39:59 GMT'],
    ['a file date', '-rw-r--r-- 120 Nov 21 13:37 a.ts', '-rw-r--r-- 120 Nov  2 09:01 a.ts'],
    ['a clock', '13:38:40 ready', '09:01:02.5 ready'],
    ['milliseconds', 'ok (12 ms)', 'ok (3400 ms)'],
    ['seconds', 'done in 1.2s', 'done in 10.75s'],
    ['minutes and seconds', 'took 1m 20s', 'took 2m 3s'],
    ['a duration field', '{"durationMs":12,"ok":true}', '{"durationMs":9.5,"ok":true}'],
    ['an epoch', 'at 1795268320', 'at 1795268999'],
    ['a uuid', 'id 550e8400-e29b-41d4-a716-446655440000', 'id 660e8400-e29b-41d4-a716-446655449999'],
    ['a commit id', 'HEAD 80a99b65d588', 'HEAD 13dd67f09abc'],
    ['an address', 'at 0x7ffd1234', 'at 0x55d0abcd'],
    ['a process id', 'started, pid 4711', 'started, pid 98'],
    ["a daemon's process id", 'node[4711]: up', 'node[98]: up'],
    ['a request id', '{"requestId":"req_1a","n":3}', '{"requestId":"req_zz","n":3}'],
  ])('C-23: a result that differs only in %s is the same', (_, one, other) => {
    expect(resultSignature([result('1', one)])).toBe(resultSignature([result('2', other)]));
  });

  it.each([
    ['a count', '3 passed', '4 passed'],
    ['a percentage', 'running: 45%', 'running: 46%'],
    ['a state', 'pending', 'done'],
    ['a line and column', 'a.ts:12:30: error', 'a.ts:12:31: error'],
    ['a size', '12345678 bytes', '12345679 bytes'],
  ])('C-23: a result that differs in %s has changed', (_, one, other) => {
    expect(resultSignature([result('1', one)])).not.toBe(resultSignature([result('1', other)]));
  });

  it('a failure is another result than a success with the same text', () => {
    expect(resultSignature([result('1', 'x', true)])).not.toBe(resultSignature([result('1', 'x')]));
  });

  it('the order of the results is no difference', () => {
    expect(resultSignature([result('1', 'a'), result('2', 'b')])).toBe(resultSignature([result('2', 'b'), result('1', 'a')]));
  });

  it('an artifact counts by what the model reads of it, not by the hash of the whole', () => {
    const one: ContentPart = { type: 'artifact', ref: 'sha256:aa', bytes: 70_000, head: 'run at 13:38:40' };
    const other: ContentPart = { type: 'artifact', ref: 'sha256:bb', bytes: 70_001, head: 'run at 13:40:00' };
    expect(resultSignature([resultOf('1', [one])])).toBe(resultSignature([resultOf('1', [other])]));
    expect(resultSignature([resultOf('1', [{ ...other, head: 'failed' }])])).not.toBe(resultSignature([resultOf('1', [one])]));
  });

  it('any text at all has a signature', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        expect(resultSignature([result('1', text)])).toMatch(/^[0-9a-f]{32}$/u);
      }),
    );
  });

  it.each(['a', '1', 'f', '12:', '1h1m', 'elapsed', 'Jan 1', '1 ', '0x', '2026-'])(
    '50 KB of %j are read in far less than what a workflow task may take',
    (piece) => {
      const text = piece.repeat(Math.ceil(51_200 / piece.length));
      const before = cpuMs();
      resultSignature([result('1', text)]);
      expect(cpuMs() - before).toBeLessThan(2_000);
    },
  );
});

function shape(given: JsonValue): string {
  return turnShape([{ name: 'search', args: given }]);
}

function result(callId: string, text: string, isError = false): Message {
  return resultOf(callId, [{ type: 'text', text }], isError);
}

function resultOf(callId: string, parts: ContentPart[], isError = false): Message {
  return { id: callId, role: 'tool', turn: 1, parts: [{ type: 'tool_result', callId, isError, parts }] };
}

/** The same value with the keys of every object written in the opposite order. */
function backwards(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(backwards);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, field]) => [key, backwards(field)]),
  );
}
