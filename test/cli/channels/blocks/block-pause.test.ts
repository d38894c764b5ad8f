import { assert, integer, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseBefore } from '../../../../src/channels/blocks/block-pause.js';

describe('pauseBefore', () => {
  it('is between its bounds, and the same for the same block', () => {
    assert(
      property(string(), integer({ min: 0, max: 1_000 }), integer({ min: 0, max: 1_000 }), (key, minMs, more) => {
        const pause = pauseBefore(key, { minMs, maxMs: minMs + more });
        expect(pause).toBeGreaterThanOrEqual(minMs);
        expect(pause).toBeLessThanOrEqual(minMs + more);
        expect(pauseBefore(key, { minMs, maxMs: minMs + more })).toBe(pause);
      }),
    );
  });

  it('differs between blocks', () => {
    const pauses = Array.from({ length: 50 }, (_, index) => pauseBefore(String(index), { minMs: 0, maxMs: 10_000 }));
    expect(new Set(pauses).size).toBeGreaterThan(40);
  });
});
