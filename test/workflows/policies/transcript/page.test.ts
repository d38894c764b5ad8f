import { describe, expect, it } from 'vitest';
import { PAYLOAD_LIMITS } from '../../../../src/contracts/constants/limits.js';
import { pageOf } from '../../../../src/workflows/policies/transcript/page.js';

const { partBytesMin } = PAYLOAD_LIMITS;

describe('A10: pages', () => {
  it('a page size of one byte gives one whole entry a page: small entries are never divided', () => {
    expect(pageOf(['first', 'second'], { from: 0, offset: 0, bytesMax: 1 })).toEqual({ from: 0, next: 1, entries: ['first'] });
  });

  it('an entry larger than the smallest part comes in parts of at least that size, which join to its JSON', () => {
    const entry = 'é🦜"'.repeat(partBytesMin / 4);
    const parts: string[] = [];
    for (let offset = 0; offset >= 0; ) {
      const { part, next } = pageOf([entry], { from: 0, offset, bytesMax: 1 });
      parts.push(part?.text ?? '');
      offset = next === 1 ? -1 : (part?.next ?? -1);
    }
    expect(JSON.parse(parts.join(''))).toBe(entry);
    expect(parts.slice(0, -1).every((text) => Buffer.byteLength(JSON.stringify(text)) > partBytesMin * 0.9)).toBe(true);
  });

  it('without an offset, as earlier builds ask, an entry of any size comes whole', () => {
    const entry = 'x'.repeat(partBytesMin * 2);
    expect(pageOf([entry], { from: 0, bytesMax: 1 })).toEqual({ from: 0, next: 1, entries: [entry] });
  });
});
