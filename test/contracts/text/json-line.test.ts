import { assert, integer, jsonValue, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLine } from '../../../src/contracts/text/sanitize-text.js';

describe('jsonLine', () => {
  it('invisible characters and marks that reorder text are written out', () => {
    expect(jsonLine({ to: 'a\u202eb\u200b\nc' }, 100)).toBe(String.raw`{"to":"a\u202eb\u200b\nc"}`);
    expect(jsonLine('\u{e0041}', 100)).toBe(String.raw`"\udb40\udc41"`);
  });

  it('a short value reads back as it was, and every line is within its bytes', () => {
    assert(
      property(jsonValue(), integer({ min: 40, max: 400 }), (value, bytesMax) => {
        const line = jsonLine(value, bytesMax);
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(bytesMax);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        const whole = JSON.stringify(value);
        expect(line.endsWith('… [cut]') ? whole : JSON.stringify(JSON.parse(line))).toBe(whole);
      }),
    );
  });
});
