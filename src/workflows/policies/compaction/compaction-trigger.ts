import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { CompactionPolicy } from '../../../contracts/schemas/policy.js';
import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import type { CompactionGoal } from './compactor.js';
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

/** What is known of the next request. Tokens are estimates unless reported. */
export interface RequestFacts {
  readonly messages: readonly Message[];
  /** Estimated tokens of `messages`: the caller counts as they come. */
  readonly messageTokens: number;
  /** Prompt and tools. */
  readonly setupTokens: number;
  readonly window: number;
  readonly taskId: string;
  readonly policy: CompactionPolicy;
  /** How many compactions there were. */
  readonly compactions: number;
  /** What the last call really took, in and out; it counted the first `messages`, and knows nothing of later compactions. */
  readonly reported?: { readonly tokens: number; readonly messages: number; readonly compactions: number };
}

/** Tokens of the next request: by estimate, and no fewer than the last call reported with what came since. */
function requestTokens(facts: RequestFacts): number {
  const estimated = facts.setupTokens + facts.messageTokens;
  const { reported } = facts;
  if (!reported || reported.compactions !== facts.compactions) return estimated;
  return Math.max(estimated, reported.tokens + estimateTokens(facts.messages.slice(reported.messages)));
}

/** Where passes begin: at the policy's share of the window, or where the reserve for the answer does, whichever is lower. */
export function softLimit(window: number, { softFraction }: CompactionPolicy): number {
  // a small window would otherwise be all reserve
  const withoutReserve = Math.max(window - COMPACTION_LIMITS.reserveTokens, window / 4);
  return Math.floor(Math.min(window * softFraction, withoutReserve));
}

/**
 * How far a pass goes. `soft` leaves recent messages alone. `forced`, also after a model said that the request was too long, leaves only
 * the last group alone and at least halves the messages: a window that was overrun is smaller than it was thought to be.
 */
export function compactionGoal(facts: RequestFacts, urgency: 'soft' | 'forced'): CompactionGoal {
  const estimated = facts.setupTokens + facts.messageTokens;
  // reported tokens are more than estimated ones in most scripts: the target shrinks as much
  const scale = estimated === 0 ? 1 : estimated / requestTokens(facts);
  const target = softLimit(facts.window, facts.policy) * COMPACTION_LIMITS.targetFraction * scale;
  // prompt and tools may fill the window by themselves: that is no reason to forget everything
  const tokensMax = Math.floor(Math.max(target - facts.setupTokens, facts.messageTokens / 4));
  if (urgency === 'forced') {
    return { tokensMax: Math.min(tokensMax, Math.floor(facts.messageTokens / 2)), keepRecentTokens: 0, taskId: facts.taskId };
  }
  return { tokensMax, keepRecentTokens: Math.min(facts.policy.keepRecentTokens, Math.floor(tokensMax / 2)), taskId: facts.taskId };
}
