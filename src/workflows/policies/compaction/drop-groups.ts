import { textOf } from '../../../contracts/message-text.js';
import type { Message } from '../../../contracts/schemas/message.js';
import { estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import { type MessageGroup, tokensOf } from './message-groups.js';
import { LeftOut } from './omission-note.js';

/**
 * Drops the oldest groups: as few as make the rest fit, else as many as give the shortest transcript. One summary message replaces them
 * and all earlier summaries. Returns the groups unchanged when this saves nothing.
 */
export function leaveOutGroups(groups: readonly MessageGroup[], tokensMax: number): readonly MessageGroup[] {
  let best = { tokens: tokensOf(groups), groups };
  if (best.tokens <= tokensMax) return groups;
  const old = groups.filter(({ kind }) => kind === 'old');
  const summary = new RunningSummary(groups.filter(({ kind }) => kind === 'summary').flatMap(({ messages }) => messages));
  const gone = new Set(groups.filter(({ kind }) => kind === 'summary'));
  let kept = best.tokens - tokensOf([...gone]);
  let choice: { readonly left: number; readonly message: Message } | undefined;
  for (const [index, group] of old.entries()) {
    kept -= group.tokens;
    for (const message of group.messages) summary.leaveOut(message);
    const message = summary.message();
    const tokens = kept + estimateTokens([message]);
    if (tokens < best.tokens) {
      best = { ...best, tokens };
      choice = { left: index + 1, message };
    }
    if (tokens <= tokensMax) break;
  }
  if (!choice) return groups;
  for (const group of old.slice(0, choice.left)) gone.add(group);
  return replaceGroups(groups, gone, choice.message);
}

function replaceGroups(groups: readonly MessageGroup[], gone: ReadonlySet<MessageGroup>, message: Message): MessageGroup[] {
  const at = groups.findIndex((group) => gone.has(group));
  const note: MessageGroup = { kind: 'summary', messages: [message], tokens: estimateTokens([message]) };
  return groups.flatMap((group, index) => (index === at ? [note] : gone.has(group) ? [] : [group]));
}

/** The summary message of a transcript, while groups are dropped. */
class RunningSummary {
  readonly #before: string[] = [];
  readonly #leftOut = new LeftOut();
  #id: string | undefined;
  #turn: number | undefined;

  constructor(summaries: readonly Message[]) {
    for (const message of summaries) {
      const { before, leftOut } = LeftOut.read(textOf(message));
      if (before !== '') this.#before.push(before);
      this.#leftOut.addAll(leftOut);
      this.#id ??= message.id;
      this.#turn = message.turn ?? this.#turn;
    }
  }

  leaveOut(message: Message): void {
    this.#leftOut.add(message);
    this.#id ??= `compacted-${message.id}`;
    this.#turn = message.turn ?? this.#turn;
  }

  message(): Message {
    return {
      id: this.#id ?? 'compacted',
      role: 'user',
      origin: 'summary',
      ...(this.#turn === undefined ? {} : { turn: this.#turn }),
      parts: [{ type: 'text', text: [...this.#before, this.#leftOut.text].join('\n\n') }],
    };
  }
}
