import { THINKING_LEVELS } from '../../contracts/constants/thinking-levels.js';
import type { ModelFacts } from '../../define/model-options.js';

/** The placeholder for an unknown value. */
const UNKNOWN = '?';

/** `272k`, `1M`, `1.05M`. */
export function formatTokens(tokens: number | undefined): string {
  if (tokens === undefined) return UNKNOWN;
  return tokens < 1_000_000 ? `${Math.round(tokens / 1_000)}k` : `${Number((tokens / 1_000_000).toFixed(2))}M`;
}

/** `$3 / $15`, with a star if long prompts cost more; `free`. */
export function formatPrice({ price }: ModelFacts): string {
  if (!price) return UNKNOWN;
  if (price.input === 0 && price.output === 0) return 'free';
  return `$${price.input} / $${price.output}${price.longPrompt ? '*' : ''}`;
}

/** `off low-high`: the thinking levels, with neighbours joined to a range; `no` for a model without thinking. */
export function formatThinking({ thinkingStyle, thinkingLevels }: ModelFacts): string {
  if (thinkingStyle === 'none') return 'no';
  if (thinkingStyle === 'budget' && !thinkingLevels) return 'off-high';
  if (!thinkingLevels) return UNKNOWN;
  const runs: string[][] = [];
  for (const level of THINKING_LEVELS.filter((each) => thinkingLevels.includes(each))) {
    const before = THINKING_LEVELS[THINKING_LEVELS.indexOf(level) - 1];
    const run = runs.at(-1);
    if (run && run.at(-1) === before) run.push(level);
    else runs.push([level]);
  }
  return runs.map((run) => (run.length === 1 ? run[0] : `${run[0]}-${run.at(-1)}`)).join(' ');
}

/** `tools images`; a question mark follows an unknown ability. */
export function formatAbilities({ tools, images }: ModelFacts): string {
  const words = [abilityLabel('tools', tools), abilityLabel('images', images)].filter((word) => word !== undefined);
  return words.length > 0 ? words.join(' ') : '-';
}

function abilityLabel(word: string, ability: boolean | undefined): string | undefined {
  if (ability === undefined) return `${word}${UNKNOWN}`;
  return ability ? word : undefined;
}
