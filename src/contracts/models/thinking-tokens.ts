import { THINKING_LIMITS } from '../constants/limits.js';
import type { ThinkingLevel, ThinkingSetting } from '../schemas/model.js';

/** How many tokens a setting lets a model think, roughly: what an answer's limit needs beside the answer itself. Never throws. */
export function tokensOfThinking(setting: ThinkingSetting): number {
  if (typeof setting === 'number') return setting;
  return setting === 'off' ? 0 : THINKING_LIMITS.budgetTokens[setting];
}

/** The least level that thinks as much as so many tokens; `high` for more than any. Never throws. */
export function levelOfTokens(tokens: number): Exclude<ThinkingLevel, 'off'> {
  if (tokens <= THINKING_LIMITS.budgetTokens.minimal) return 'minimal';
  if (tokens <= THINKING_LIMITS.budgetTokens.low) return 'low';
  return tokens <= THINKING_LIMITS.budgetTokens.medium ? 'medium' : 'high';
}
