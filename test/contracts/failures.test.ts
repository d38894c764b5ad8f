import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutMiddle, cutText, redact } from '../../src/contracts/text/redact.js';

describe('redact', () => {
  it.each([
    'Incorrect API key provided: sk-proj-SECRET123456',
    'Authorization: Bearer SECRET.123456',
    'authorization: Basic SECRET123456==',
    'headers {"authorization":"Bearer SECRET123456"}',
    "x-api-key: 'SECRET123456'",
    'x-api-key SECRET123456',
    'bearer SECRET123456',
  ])('X7: the key in %j is gone', (text) => {
    expect(redact(text)).not.toContain('SECRET');
    expect(redact(text)).toContain('[redacted]');
  });

  it('what is no key stays', () => {
    const text = 'the request was refused: 401 for model gpt-5 at 10:42';
    expect(redact(text)).toBe(text);
  });
});

describe('cutText', () => {
  it('L3: whatever the text, the cut has at most its bytes, is well-formed and says that it is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 20, max: 400 }), (text, bytesMax) => {
        const cut = cutText(text, bytesMax);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(Math.max(bytesMax, 0));
        expect(cut.isWellFormed()).toBe(true);
        expect(cut === text || cut.endsWith('… [cut]')).toBe(true);
      }),
    );
  });
});

describe('cutMiddle', () => {
  it('A14: keeps both ends of an error within its bytes, and says how much is missing', () => {
    const cut = cutMiddle(`TypeError: no such order${'x'.repeat(3_000_000)}at checkout.ts:7`, 4_096);
    expect(cut.startsWith('TypeError: no such order')).toBe(true);
    expect(cut.endsWith('at checkout.ts:7')).toBe(true);
    expect(cut).toMatch(/… \[\d+ bytes cut\] …/u);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 20, max: 400 }), (text, bytesMax) => {
        const one = cutMiddle(text, bytesMax);
        expect(Buffer.byteLength(one)).toBeLessThanOrEqual(bytesMax);
        expect(one.isWellFormed()).toBe(true);
      }),
    );
  });
});
