import type { Message } from '../../../../contracts/schemas/message.js';
import type { RunView } from './run-view.js';

/**
 * Adds messages of the transcript to a run. `isWhole`: they are the whole transcript, as it is after a compaction: messages that it no
 * longer has stay before it. Pure.
 */
export function takeMessages(view: RunView, given: readonly Message[], { isWhole }: { readonly isWhole: boolean }): RunView {
  const messages = isWhole ? ownPart(given) : given;
  const known = new Set(view.messages.map(({ id }) => id));
  const news = messages.filter(({ id }) => !known.has(id));
  if (news.length === 0) return view;
  if (!isWhole) return { ...view, messages: [...view.messages, ...news] };
  const kept = new Set(messages.map(({ id }) => id));
  return { ...view, messages: [...view.messages.filter(({ id }) => !kept.has(id)), ...messages] };
}

/** The messages from the task on: a conversation that the run continues is before it. */
function ownPart(messages: readonly Message[]): readonly Message[] {
  const task = messages.findLastIndex(({ role, origin }) => role === 'user' && origin === undefined);
  return messages.slice(Math.max(0, task));
}
