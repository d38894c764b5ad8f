import type { Message } from '../../contracts/schemas/message.js';
import { estimateTokens } from '../../contracts/text/estimate-tokens.js';

/** Tokens to fill from the tail, and how many messages that is at least and at most. */
export interface KeepBounds {
  readonly tokens: number;
  readonly min: number;
  readonly max: number;
}

/** How many of the newest messages fit into some tokens. The newest one is always kept, however long it is. */
export function adaptiveKeep(messages: readonly Message[], { tokens, min, max }: KeepBounds): number {
  let kept = 0;
  let used = 0;
  for (const message of messages.toReversed()) {
    used += estimateTokens([message]);
    if (used > tokens || kept >= max) break;
    kept += 1;
  }
  return Math.min(messages.length, Math.max(1, min, kept));
}
