import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SIGNALS, UPDATES, verbsOf } from '../../../src/contracts/verbs/index.js';
import { readVerb } from '../../../src/contracts/verbs/verb.js';

const VERBS = [...verbsOf(SIGNALS), ...verbsOf(UPDATES)];

describe('readVerb, tolerant: a message from whatever client', () => {
  it('B3: text is made well-formed, and ids that are too long stay two', () => {
    const ids = ['a', 'b'].map((end) => readMessage({ text: '\ud800a\u0000', id: `${'i'.repeat(500)}${end}` }));
    expect(ids[0]).toEqual({ text: '\ufffda\u2400', id: expect.stringMatching(/^i{100}#[0-9a-f]{64}$/u) });
    expect(ids[1]).toMatchObject({ id: expect.stringMatching(/^i{100}#[0-9a-f]{64}$/u) });
    expect(ids[0]).not.toEqual(ids[1]);
    expect(readMessage('plain text')).toEqual({ text: 'plain text' });
  });

  it.each([
    [{ mode: 'now' }, {}],
    [{ mode: 7, ttlMs: '5s' }, {}],
    [{ ttlMs: 0 }, {}],
    [{ ttlMs: Number.NaN }, {}],
    [
      { ttlMs: 1e300, mode: 'preempt' },
      { ttlMs: 30 * 86_400_000, mode: 'preempt' },
    ],
  ])('options that are none, %j, lose no message: %j', (options, read) => {
    expect(readMessage({ text: 'x', ...options })).toEqual({ text: 'x', ...read });
  });

  it.each([
    ['nothing', undefined, 'EMPTY_MESSAGE'],
    ['null', null, 'EMPTY_MESSAGE'],
    ['a number', 7, 'EMPTY_MESSAGE'],
    ['an object without text', { id: 'a' }, 'EMPTY_MESSAGE'],
    ['white space', { text: ' \n\t' }, 'EMPTY_MESSAGE'],
    ['more than a mebibyte', { text: 'é'.repeat(600_000) }, 'MESSAGE_TOO_LARGE'],
  ])('%s is no message', (_, input, code) => {
    expect(readVerb(SIGNALS.steer, input, 'tolerant').fault).toMatchObject({ code });
  });
});

describe('readVerb, strict: a decision', () => {
  it.each([
    ['no call', {}, 'BAD_ANSWER'],
    ['an empty call', { callId: ' ' }, 'BAD_ANSWER'],
    ['an unknown field', { callId: 'c', who: 'ann' }, 'BAD_ANSWER'],
    ['a reason without end', { callId: 'c', reason: 'x'.repeat(1_001) }, 'BAD_ANSWER'],
    ['null', null, 'BAD_ANSWER'],
  ])('%s is refused', (_, input, code) => {
    expect(readVerb(UPDATES.deny, input, 'strict').fault).toMatchObject({ code });
  });

  it('the first fault of a field that was given goes before one that is missing', () => {
    expect(readVerb(UPDATES.deny, { callId: 7 }, 'strict').fault?.message).toBe('call: a text of 1–200 characters, got 7');
  });
});

describe('every verb', () => {
  it.each(VERBS.map((verb) => [verb.name, verb] as const))('%s: its entry is complete', (name, verb) => {
    expect(verb.description.length).toBeGreaterThan(10);
    for (const field of [...Object.keys(verb.required ?? {}), ...Object.keys(verb.command?.flags ?? {})])
      expect(verb.fields).toHaveProperty(field);
    expect(name).toBe(Object.entries({ ...SIGNALS, ...UPDATES }).find(([, entry]) => entry.name === name)?.[0]);
  });

  it.each(VERBS.map((verb) => [verb.name, verb] as const))(
    '%s: never throws, gives only its own fields, and reads what it gave as itself',
    (_, verb) => {
      const fields = Object.fromEntries(Object.keys(verb.fields).map((name) => [name, fc.option(fc.anything(), { nil: undefined })]));
      fc.assert(
        fc.property(fc.oneof(fc.anything(), fc.record(fields), fc.record(fields, { noNullPrototype: true })), (input) => {
          const { value, fault } = readVerb(verb, input, 'tolerant');
          expect(Object.keys(value).filter((name) => !Object.hasOwn(verb.fields, name))).toEqual([]);
          expect(fault ?? readVerb(verb, value, 'tolerant')).toEqual(fault ?? { value });
          readVerb(verb, input, 'strict');
        }),
      );
    },
  );

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('a field called %s is a stranger, not a way in', (name) => {
    const input: unknown = JSON.parse(`{"text": "x", "${name}": {"mode": "interrupt"}}`);
    expect(readVerb(SIGNALS.steer, input, 'tolerant').value).toEqual({ text: 'x' });
    expect(readVerb(SIGNALS.steer, input, 'strict').fault?.code).toBe('UNKNOWN_OPTION');
  });
});

function readMessage(input: unknown): unknown {
  const { value, fault } = readVerb(SIGNALS.steer, input, 'tolerant');
  return fault ?? value;
}
