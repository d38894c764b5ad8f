import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import { compactionGoal, type RequestFacts, requestTokens, softLimit } from '../compaction-goal.js';
import { groupMessages, tokensOf } from './message-groups.js';

/** What the decision needs, before each request. */
export interface CompactionFacts extends RequestFacts {
  /** No pass before the transcript has this many messages: an earlier one found nothing. */
  readonly latchedUntil: number;
}

/**
 * Must the transcript be made shorter before the next request? Below the soft limit the answer costs a comparison; above it, it costs
 * one look over the messages, and is `no` when a pass would save too little: nothing at all, or for a soft pass less than a tenth.
 */
export function compactionNeeded(facts: CompactionFacts): 'no' | 'soft' | 'forced' {
  if (facts.policy.strategies.length === 0 || facts.messages.length < facts.latchedUntil) return 'no';
  const tokens = requestTokens(facts);
  if (tokens >= facts.window * COMPACTION_LIMITS.pressureFraction) return savings(facts, 'forced') > 0 ? 'forced' : 'no';
  if (tokens <= softLimit(facts.window, facts.policy)) return 'no';
  return savings(facts, 'soft') >= facts.messageTokens * COMPACTION_LIMITS.savingsFractionMin ? 'soft' : 'no';
}

/** The message count that the next pass waits for, after one that gained nothing. */
export function latchedUntil(messages: number): number {
  return messages + COMPACTION_LIMITS.latchMessages;
}

/** At most this many tokens can be saved: what is neither pinned nor recent. Nothing is built for it. */
function savings(facts: CompactionFacts, urgency: 'soft' | 'forced'): number {
  return tokensOf(groupMessages(facts.messages, compactionGoal(facts, urgency)).filter(({ kind }) => kind === 'old'));
}
