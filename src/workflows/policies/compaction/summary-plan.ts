import type { Message } from '../../../contracts/schemas/message.js';
import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import { repairPairing } from '../transcript/repair-transcript.js';
import type { CompactionGoal } from './compactor.js';
import { groupMessages, type MessageGroup, tokensOf } from './message-groups.js';

/** The messages that a summary replaces: `from`, up to `to` exclusive. */
export interface SummaryPlan {
  readonly from: number;
  readonly to: number;
}

/** One message alone is not worth a model's time. */
const MESSAGES_MIN = 2;

/**
 * Chooses the stretch of old messages that a summary replaces: the one with most tokens between what must stay, cut between groups, so
 * that no result is parted from its call. An earlier summary is part of it. Undefined when the transcript fits, or nothing is old.
 */
export function planSummary(messages: readonly Message[], goal: CompactionGoal): SummaryPlan | undefined {
  const groups = groupMessages(messages, goal);
  if (tokensOf(groups) <= goal.tokensMax) return undefined;
  return stretches(groups)
    .filter(({ from, to }) => to - from >= MESSAGES_MIN)
    .reduce<Stretch | undefined>((best, stretch) => (best && best.tokens >= stretch.tokens ? best : stretch), undefined);
}

/**
 * Puts the replacement in the place of the planned messages. Whatever a compactor gave, the outcome is a transcript that providers
 * take; what is not shorter is not taken, and the very same messages come back.
 */
export function applySummary(messages: readonly Message[], plan: SummaryPlan, replacement: readonly Message[]): readonly Message[] {
  const after = repairPairing([...messages.slice(0, plan.from), ...replacement, ...messages.slice(plan.to)]).messages;
  return estimateTokens(after) < estimateTokens(messages) ? after : messages;
}

interface Stretch extends SummaryPlan {
  readonly tokens: number;
}

/** Neighbouring groups that may be replaced. */
function stretches(groups: readonly MessageGroup[]): Stretch[] {
  const found: Stretch[] = [];
  let at = 0;
  let open: Stretch | undefined;
  for (const { kind, messages, tokens } of groups) {
    const from = at;
    at += messages.length;
    if (kind === 'pinned' || kind === 'recent') {
      open = undefined;
      continue;
    }
    if (open) found.pop();
    open = { from: open?.from ?? from, to: at, tokens: (open?.tokens ?? 0) + tokens };
    found.push(open);
  }
  return found;
}
