import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SteerRecord } from '../../../../src/contracts/schemas/run.js';
import { fitNewest } from '../../../../src/workflows/policies/tools/truncate-approvals.js';

const record = fc.record({
  id: fc.string({ maxLength: 50, unit: 'grapheme' }),
  state: fc.constant('refused' as const),
  reason: fc.string(),
});

describe('fitNewest', () => {
  it('keeps what takes exactly the bytes that there are', () => {
    const records = [1, 22, 333];
    expect(fitNewest(records, { countMax: 3, bytesMax: Buffer.byteLength('[1,22,333]') })).toEqual(records);
    expect(fitNewest(records, { countMax: 3, bytesMax: Buffer.byteLength('[1,22,333]') - 1 })).toEqual([22, 333]);
  });

  it('keeps the newest records, in their order, within both bounds, and none that would still fit is left out', () => {
    const bounds = fc.record({ countMax: fc.integer({ min: 1, max: 20 }), bytesMax: fc.integer({ min: 0, max: 2_000 }) });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 40 }), bounds, (records: SteerRecord[], { countMax, bytesMax }) => {
        const kept = fitNewest(records, { countMax, bytesMax });
        const fits = (count: number): boolean => count <= Math.min(countMax, records.length) && bytesOf(records.slice(-count)) <= bytesMax;
        const most = Math.max(0, ...Array.from({ length: countMax }, (_, index) => index + 1).filter(fits));
        expect(kept).toEqual(most === 0 ? [] : records.slice(-most));
      }),
    );
  });
});

function bytesOf(records: readonly SteerRecord[]): number {
  return Buffer.byteLength(JSON.stringify(records));
}
