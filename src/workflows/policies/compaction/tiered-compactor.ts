import type { Message } from '../../../contracts/schemas/message.js';
import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import type { Compactor } from './compactor.js';
import { leaveOutGroups } from './drop-groups.js';
import { groupMessages, type MessageGroup, tokensOf } from './message-groups.js';
import { shortenMessage } from './shorten-message.js';
import { stubMessage } from './tool-result-stub.js';

/**
 * Shortens old groups, oldest first and only as far as needed. Tool results become stubs; then thinking is dropped and long answers are
 * cut; last, whole groups are dropped, with one summary message about their content.
 */
export const tieredCompactor: Compactor = (messages, goal) => {
  const groups = groupMessages(messages, goal);
  if (tokensOf(groups) <= goal.tokensMax) return messages;
  const stubbed = shortenGroups(groups, stubMessage, goal.tokensMax);
  const shortened = shortenGroups(stubbed, shortenMessage, goal.tokensMax);
  const compacted = leaveOutGroups(shortened, goal.tokensMax).flatMap((group) => group.messages);
  const isSame = compacted.length === messages.length && compacted.every((message, index) => message === messages[index]);
  return isSame ? messages : compacted;
};

/** Shortens the messages of old groups until all groups fit. `shorten` returns undefined to drop a message. */
function shortenGroups(
  groups: readonly MessageGroup[],
  shorten: (message: Message) => Message | undefined,
  tokensMax: number,
): MessageGroup[] {
  let tokens = tokensOf(groups);
  return groups.map((group) => {
    if (tokens <= tokensMax || group.kind !== 'old') return group;
    const messages = group.messages.flatMap((message) => shorten(message) ?? []);
    const shorter = { ...group, messages, tokens: estimateTokens(messages) };
    tokens += shorter.tokens - group.tokens;
    return shorter;
  });
}
