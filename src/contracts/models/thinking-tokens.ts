import { THINKING_LIMITS } from '../constants/limits.js';
import type { ThinkingLevel, ThinkingSetting } from '../schemas/model.js';

/** Tokens of thinking that a setting is worth. The output limit of a request is increased by it. Never throws. */
export function tokensOfThinking(setting: ThinkingSetting): number {
  if (typeof setting === 'number') return setting;
  return setting === 'off' ? 0 : THINKING_LIMITS.budgetTokens[setting];
}

/** The lowest level that is worth at least this many tokens; `high` above all. Never throws. */
export function levelOfTokens(tokens: number): Exclude<ThinkingLevel, 'off'> {
  if (tokens <= THINKING_LIMITS.budgetTokens.minimal) return 'minimal';
  if (tokens <= THINKING_LIMITS.budgetTokens.low) return 'low';
  return tokens <= THINKING_LIMITS.budgetTokens.medium ? 'medium' : 'high';
}
