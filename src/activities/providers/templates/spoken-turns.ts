import type { Message, ThinkingPart } from '../../../contracts/schemas/message.js';
import { partsText } from '../../../providers/transcript/file-parts.js';

/** One turn of a spoken transcript. */
export interface SpokenTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly thinking: string;
}

/** The turns of a transcript as texts; an answer without one is empty. */
export function spokenTurns(messages: readonly Message[]): SpokenTurn[] {
  return messages.map(({ role, parts }) => {
    const thinking = parts
      .filter((part): part is ThinkingPart => part.type === 'thinking')
      .map((part) => part.text)
      .join('\n');
    const rest = parts.filter((part) => part.type !== 'thinking');
    const speaker = role === 'assistant' ? 'assistant' : 'user';
    return { role: speaker, text: rest.length === 0 && speaker === 'assistant' ? '' : partsText(rest), thinking };
  });
}

/** Neighbouring turns of one side as one, for models that know only alternating ones. */
export function alternating(turns: readonly SpokenTurn[]): SpokenTurn[] {
  const merged: SpokenTurn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role !== turn.role) merged.push(turn);
    else merged[merged.length - 1] = { ...last, text: `${last.text}\n\n${turn.text}` };
  }
  return merged;
}
