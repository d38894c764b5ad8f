import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wireCallIds } from '../../../src/providers/transcript/call-ids.js';
import { ownCalls } from '../../../src/providers/transcript/decode-calls.js';
import { toolNames } from '../../../src/providers/transcript/tool-names.js';

function named(...names: readonly string[]) {
  return names.map((name) => ({ name, schema: {} }));
}

describe('toolNames', () => {
  it('A-11: a name with other letters is sent with _ in their place, and a call by the sent name reaches the tool', () => {
    const tools = named('notes/größe', 'read_file');
    expect(toolNames(tools).wire('notes/größe')).toBe('notes_gr__e');
    const call = { type: 'tool_call', callId: 'c', name: 'notes_gr__e', args: { line: 1 } } as const;
    expect(ownCalls([call], tools)).toEqual([{ ...call, name: 'notes/größe' }]);
  });

  it('names that would be sent as one get a hash each; a legal name is never changed', () => {
    const names = toolNames(named('a.b', 'a/b', 'a_b'));
    expect(names.wire('a_b')).toBe('a_b');
    expect(names.own('a_b')).toBe('a_b');
    expect(names.wire('a.b')).toMatch(/^a_b_[0-9a-f]{8}$/u);
    expect(names.wire('a/b')).not.toBe(names.wire('a.b'));
    expect(names.own(names.wire('a/b'))).toBe('a/b');
  });

  it('names that are only too long are cut, and told apart where the cut makes them one', () => {
    const long = 'x'.repeat(80);
    expect(toolNames(named(long)).wire(long)).toBe('x'.repeat(64));
    const names = toolNames(named(`${long}1`, `${long}2`));
    expect(names.wire(`${long}1`)).toMatch(/^x{55}_[0-9a-f]{8}$/u);
    expect(names.own(names.wire(`${long}2`))).toBe(`${long}2`);
  });

  it('a name that is no tool of the request is sent in letters that are legal, and means itself', () => {
    const names = toolNames(named('read_file'));
    expect(names.wire('functions.read')).toBe('functions_read');
    expect(names.wire('')).toBe('unnamed');
    expect(names.own('functions.read')).toBe('functions.read');
  });

  it('whatever the names and their order: each is sent as one of its own, legal everywhere, and comes back', () => {
    const name = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '_', '.', '/', 'ü'), maxLength: 4 }),
      fc.string({ minLength: 60, maxLength: 70 }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 12 }), (all) => {
        const names = toolNames(named(...all));
        const sent = all.map((own) => names.wire(own));
        expect(new Set(sent).size).toBe(all.length);
        expect(sent.every((wire) => /^[a-zA-Z0-9_-]{1,64}$/u.test(wire))).toBe(true);
        expect(sent.map((wire) => names.own(wire))).toEqual(all);
        const other = toolNames(named(...all.toReversed()));
        expect(all.map((own) => other.wire(own))).toEqual(sent);
      }),
    );
  });
});

describe('wireCallIds', () => {
  it('two calls whose hashes give one id have two all the same, each time', () => {
    // found by trying: both are goI7td at first
    const own = ['call_235518', 'call_338384'];
    expect(own.map((id) => wireCallIds(6)(id))).toEqual(['goI7td', 'goI7td']);
    const idOf = wireCallIds(6);
    const sent = own.map(idOf);
    expect(sent[0]).toBe('goI7td');
    expect(sent[1]).not.toBe('goI7td');
    expect(own.map(idOf)).toEqual(sent);
  });
});
