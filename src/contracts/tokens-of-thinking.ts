import { THINKING_LIMITS } from './limits.js';
import type { ThinkingSetting } from './thinking.js';

/** How many tokens a setting lets a model think, roughly: what an answer's limit needs beside the answer itself. Never throws. */
export function tokensOfThinking(setting: ThinkingSetting): number {
  if (typeof setting === 'number') return setting;
  return setting === 'off' ? 0 : THINKING_LIMITS.budgetTokens[setting];
}
