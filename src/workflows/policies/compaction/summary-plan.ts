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

/** A single message is not worth a model call. */
const MESSAGES_MIN = 2;

/**
 * Chooses the range of messages that a summary replaces: the range of old groups and earlier summaries with the most tokens. It ends at
 * group boundaries, so that no result is separated from its call. Undefined when the transcript fits, or no group is old.
 */
export function planSummary(messages: readonly Message[], goal: CompactionGoal): SummaryPlan | undefined {
  const groups = groupMessages(messages, goal);
  if (tokensOf(groups) <= goal.tokensMax) return undefined;
  return stretches(groups)
    .filter(({ from, to }) => to - from >= MESSAGES_MIN)
    .reduce<Stretch | undefined>((best, stretch) => (best && best.tokens >= stretch.tokens ? best : stretch), undefined);
}

/**
 * Replaces the planned messages. The pairing of calls and results is repaired, whatever the compactor returned. Returns the same messages
 * when the replacement is not shorter.
 */
export function applySummary(messages: readonly Message[], plan: SummaryPlan, replacement: readonly Message[]): readonly Message[] {
  const after = repairPairing([...messages.slice(0, plan.from), ...replacement, ...messages.slice(plan.to)]).messages;
  return estimateTokens(after) < estimateTokens(messages) ? after : messages;
}

interface Stretch extends SummaryPlan {
  readonly tokens: number;
}

/** The ranges of neighbouring groups that may be replaced. */
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
