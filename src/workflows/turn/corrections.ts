import type { Message } from '../../contracts/schemas/message.js';
import { showDecision } from '../operator/wait.js';
import type { Run } from '../state/run.js';

/** A correction that the model reads as the next message. */
interface Correction {
  /** In a word or two, for operators. */
  readonly why: string;
  readonly text: string;
  /** How often in a row it was needed. */
  readonly attempt: number;
}

/** Puts a correction into the transcript, where later requests have it too, and tells operators. */
export function correct(run: Run, { why, text, attempt }: Correction): void {
  run.transcript.append(ownMessage(run, 'correction', text));
  run.events.add({ type: 'answer.corrected', turn: run.counters.turn, why, attempt, text: text.slice(0, 200) });
  showDecision(run, `turn ${run.counters.turn}: corrected (${why}, ${attempt})`);
}

/** Puts a nudge into the transcript. */
export function nudge(run: Run, text: string): void {
  run.transcript.append(ownMessage(run, 'nudge', text));
}

function ownMessage(run: Run, origin: 'correction' | 'nudge', text: string): Message {
  run.counters.corrections += 1;
  return {
    id: `${run.idPrefix}-c${run.counters.corrections}`,
    role: 'user',
    origin,
    turn: run.counters.turn,
    parts: [{ type: 'text', text }],
  };
}
