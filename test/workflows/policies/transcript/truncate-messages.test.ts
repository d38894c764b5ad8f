import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitMessages } from '../../../../src/workflows/policies/transcript/truncate-messages.js';

const id = fc.string({ minLength: 1, maxLength: 40 });
const text = fc.oneof(fc.string({ maxLength: 2_000 }), fc.string({ unit: 'grapheme', maxLength: 500 }), fc.constant('\u0001'.repeat(900)));
const messages = fc.array(fc.record({ id, text }), { maxLength: 60 });

describe('fitMessages', () => {
  it('whatever waits, its JSON stays within the bound', () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 1_000, max: 20_000 }), (given, bytesMax) => {
        expect(Buffer.byteLength(JSON.stringify(fitMessages(given, bytesMax)))).toBeLessThanOrEqual(bytesMax);
      }),
    );
  });

  it('messages that fit come back whole', () => {
    fc.assert(
      fc.property(messages, (given) => {
        expect(fitMessages(given, 1_000_000)).toEqual(given);
      }),
    );
  });

  it('the order is kept, and what is left out is counted', () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 1_000, max: 5_000 }), (given, bytesMax) => {
        const fitted = fitMessages(given, bytesMax);
        const dropped = /^\[(\d+) more messages/u.exec(fitted.at(-1)?.text ?? '')?.[1];
        const kept = dropped === undefined ? fitted : fitted.slice(0, -1);
        expect(kept.map((message) => message.id)).toEqual(given.slice(0, kept.length).map((message) => message.id));
        expect(kept.length + Number(dropped ?? 0)).toBe(given.length);
      }),
    );
  });
});
