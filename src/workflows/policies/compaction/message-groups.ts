import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message } from '../../../contracts/schemas/message.js';
import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import { saysSomething } from '../answer/judge-answer.js';
import type { CompactionGoal } from './compactor.js';

/** Messages that stay together: an answer with the results of its calls, or a single message. */
export interface MessageGroup {
  readonly messages: readonly Message[];
  readonly tokens: number;
  /**
   * `pinned` is always kept unchanged: the task, the first user message, the last answer and everything after it, and unanswered steers.
   * `summary` replaces dropped messages; `recent` is kept by the goal; everything else is `old`.
   */
  readonly kind: 'pinned' | 'summary' | 'recent' | 'old';
}

/** The groups of a paired transcript, oldest first, each with its kind. */
export function groupMessages(messages: readonly Message[], goal: CompactionGoal): MessageGroup[] {
  const groups = together(messages);
  const lastAnswer = groups.findLastIndex(isAnswer);
  const places: Places = {
    lastAnswer,
    tail: lastAnswer === -1 ? groups.length - 1 : lastAnswer,
    recent: firstRecent(groups, messages, goal),
    firstUser: groups.findIndex(([head]) => head?.role === 'user' && head.origin === undefined),
    taskId: goal.taskId,
  };
  return groups.map((group, index) => ({ messages: group, tokens: estimateTokens(group), kind: kindOf(group, index, places) }));
}

/** Estimated tokens of all groups. */
export function tokensOf(groups: readonly MessageGroup[]): number {
  return groups.reduce((sum, { tokens }) => sum + tokens, 0);
}

interface Places {
  readonly lastAnswer: number;
  readonly tail: number;
  readonly recent: number;
  readonly firstUser: number;
  readonly taskId: string;
}

function kindOf([head]: readonly Message[], index: number, places: Places): MessageGroup['kind'] {
  const isUnanswered = index > places.lastAnswer && (head?.origin === 'steer' || head?.origin === 'subagent');
  if (index >= places.tail || index === places.firstUser || head?.id === places.taskId || isUnanswered) return 'pinned';
  if (head?.origin === 'summary') return 'summary';
  return index >= places.recent ? 'recent' : 'old';
}

function together(messages: readonly Message[]): Message[][] {
  const groups: Message[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role === 'tool' && last) last.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** True for an answer. An interrupted or empty one does not count: the messages before it are still unanswered. */
function isAnswer([head]: readonly Message[]): boolean {
  return head?.role === 'assistant' && head.partial !== true && saysSomething(head);
}

/** The index of the first group with a message that the goal keeps. */
function firstRecent(groups: readonly Message[][], messages: readonly Message[], { keepRecentTokens }: CompactionGoal): number {
  if (keepRecentTokens <= 0) return groups.length;
  const { keepRecentMin: min, keepRecentMax: max } = COMPACTION_LIMITS;
  const older = messages.length - adaptiveKeep(messages, { tokens: keepRecentTokens, min, max });
  let seen = 0;
  return groups.findIndex((group) => {
    seen += group.length;
    return seen > older;
  });
}

/** The tokens to fill from the end, and the minimum and maximum of messages. */
export interface KeepBounds {
  readonly tokens: number;
  readonly min: number;
  readonly max: number;
}

/** The number of newest messages that fit into the tokens. The newest one always counts, whatever its length. */
export function adaptiveKeep(messages: readonly Message[], { tokens, min, max }: KeepBounds): number {
  let kept = 0;
  let used = 0;
  for (const message of messages.toReversed()) {
    used += estimateTokens([message]);
    if (used > tokens || kept >= max) break;
    kept += 1;
  }
  return Math.min(messages.length, Math.max(1, min, kept));
}
