import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { CompactionPolicy } from '../../../contracts/schemas/policy.js';
import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import type { CompactionGoal } from './compactor.js';
import { groupMessages, tokensOf } from './message-groups.js';

/** The facts for the decision, before each request. */
export interface CompactionFacts extends RequestFacts {
  /** No pass before the transcript has this many messages, because an earlier pass saved nothing. */
  readonly latchedUntil: number;
}

/**
 * Whether the transcript must be compacted before the next request. Below the soft limit this is a comparison; above it one pass over the
 * messages. `no` when a forced pass would save nothing, or a soft pass less than a tenth.
 */
export function compactionNeeded(facts: CompactionFacts): 'no' | 'soft' | 'forced' {
  if (facts.policy.strategies.length === 0 || facts.messages.length < facts.latchedUntil) return 'no';
  const tokens = requestTokens(facts);
  if (tokens >= facts.window * COMPACTION_LIMITS.pressureFraction) return savings(facts, 'forced') > 0 ? 'forced' : 'no';
  if (tokens <= softLimit(facts.window, facts.policy)) return 'no';
  return savings(facts, 'soft') >= facts.messageTokens * COMPACTION_LIMITS.savingsFractionMin ? 'soft' : 'no';
}

/** The minimum message count of the next pass, after one that saved nothing. */
export function latchedUntil(messages: number): number {
  return messages + COMPACTION_LIMITS.latchMessages;
}

/** The maximum of tokens that a pass can save: those of messages that are neither pinned nor recent, and of an inherited conversation. */
function savings(facts: CompactionFacts, urgency: 'soft' | 'forced'): number {
  return (
    (facts.inheritedTokens ?? 0) +
    tokensOf(groupMessages(facts.messages, compactionGoal(facts, urgency)).filter(({ kind }) => kind === 'old'))
  );
}

/** The facts about the next request. Tokens are estimates unless reported. */
export interface RequestFacts {
  readonly messages: readonly Message[];
  /** Estimated tokens of `messages`, and of the conversation before them. */
  readonly messageTokens: number;
  /** Of them, the tokens of the conversation before `messages`. @default 0 */
  readonly inheritedTokens?: number;
  /** Estimated tokens of prompt and tools. */
  readonly setupTokens: number;
  readonly window: number;
  readonly taskId: string;
  readonly policy: CompactionPolicy;
  /** The number of compactions so far. */
  readonly compactions: number;
  /** The reported input and output tokens of the last call, its number of messages, and the number of compactions before it. */
  readonly reported?: { readonly tokens: number; readonly messages: number; readonly compactions: number };
}

/** Tokens of the next request: the estimate, and at least the report of the last call plus the messages since. */
function requestTokens(facts: RequestFacts): number {
  const estimated = facts.setupTokens + facts.messageTokens;
  const { reported } = facts;
  if (!reported || reported.compactions !== facts.compactions) return estimated;
  return Math.max(estimated, reported.tokens + estimateTokens(facts.messages.slice(reported.messages)));
}

/**
 * The token count above which soft passes begin: the policy's share of the window, or the window without the answer reserve, whichever is
 * lower.
 */
export function softLimit(window: number, { softFraction }: CompactionPolicy): number {
  // in a small window the reserve would otherwise take everything
  const withoutReserve = Math.max(window - COMPACTION_LIMITS.reserveTokens, window / 4);
  return Math.floor(Math.min(window * softFraction, withoutReserve));
}

/**
 * The target of a pass. `soft` keeps recent messages. `forced`, also used after a context overflow, keeps only the last group and at least
 * halves the messages, because after an overflow the real window is smaller than the configured one.
 */
export function compactionGoal(facts: RequestFacts, urgency: 'soft' | 'forced'): CompactionGoal {
  const estimated = facts.setupTokens + facts.messageTokens;
  // most scripts have more real tokens than estimated: the target is scaled down accordingly
  const scale = estimated === 0 ? 1 : estimated / requestTokens(facts);
  const target = softLimit(facts.window, facts.policy) * COMPACTION_LIMITS.targetFraction * scale;
  // prompt and tools alone may fill the window: a quarter of the messages is kept in any case
  const tokensMax = Math.floor(Math.max(target - facts.setupTokens, facts.messageTokens / 4));
  if (urgency === 'forced') {
    return { tokensMax: Math.min(tokensMax, Math.floor(facts.messageTokens / 2)), keepRecentTokens: 0, taskId: facts.taskId };
  }
  return { tokensMax, keepRecentTokens: Math.min(facts.policy.keepRecentTokens, Math.floor(tokensMax / 2)), taskId: facts.taskId };
}
