import type { ThinkingSetting } from '../contracts/thinking.js';
import type { ModelFacts } from '../define/model-options.js';
import type { ThinkingOrder } from './providers/provider.js';

/**
 * A setting in the words that a model takes; or, for a level that it does not have, why not and which ones it has. A model of which
 * nothing is known is told the level as it is. Never throws.
 */
export function thinkingOrder(
  setting: ThinkingSetting,
  facts: ModelFacts,
): { readonly order: ThinkingOrder } | { readonly problem: string } {
  if (setting === 'off') return { order: { style: 'off' } };
  if (facts.thinkingStyle === 'none') return { problem: 'this model does not think; use off' };
  if (typeof setting === 'number') return { order: { style: 'budget', tokens: setting } };
  return { order: { style: 'effort', effort: setting } };
}
