import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import type { Compactor } from './compactor.js';
import { groupMessages, type MessageGroup } from './message-groups.js';

/** Drops the oldest groups until the rest fits. Tool results count double, because the model can get them again. */
export const trimCompactor: Compactor = (messages, goal) => {
  const groups = groupMessages(messages, goal);
  let weight = groups.reduce((sum, group) => sum + weightOf(group), 0);
  const kept = groups.filter((group) => {
    if (weight <= goal.tokensMax || group.kind === 'pinned' || group.kind === 'summary') return true;
    weight -= weightOf(group);
    return false;
  });
  return kept.length === groups.length ? messages : kept.flatMap((group) => group.messages);
};

function weightOf({ messages, tokens }: MessageGroup): number {
  return tokens + estimateTokens(messages.filter(({ role }) => role === 'tool'));
}
