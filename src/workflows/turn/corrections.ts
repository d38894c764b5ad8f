import type { Message } from '../../contracts/schemas/message.js';
import { showDecision } from '../operator/wait.js';
import type { Run } from '../state/run.js';

/** A correction for the model: a message in the transcript. */
interface Correction {
  /** A short reason, for operators. */
  readonly why: string;
  readonly text: string;
  /** The number of such corrections in a row. */
  readonly attempt: number;
}

/** Appends a correction to the transcript, and publishes it to operators. */
export function correct(run: Run, { why, text, attempt }: Correction): void {
  run.transcript.append(ownMessage(run, 'correction', text));
  run.events.add({ type: 'answer.corrected', turn: run.counters.turn, why, attempt, text: text.slice(0, 200) });
  showDecision(run, `turn ${run.counters.turn}: corrected (${why}, attempt ${attempt})`);
}

/** Appends a nudge to the transcript. */
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
