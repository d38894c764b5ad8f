import { createHash } from 'node:crypto';

/** The pause before each block but the first one of an answer, in milliseconds, as a person would need to type. */
export interface BlockPause {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * The pause before a block, between both bounds. It depends only on the key of the block, so that a bridge that starts again waits as long.
 * Never throws.
 */
export function pauseBefore(key: string, { minMs, maxMs }: BlockPause): number {
  const share = createHash('sha256').update(key).digest().readUInt32BE(0) / 2 ** 32;
  return Math.round(minMs + share * Math.max(0, maxMs - minMs));
}
