import { NO_LOOPS } from '../../contracts/initial-state.js';
import type { Run } from '../state/run.js';

/** Moves waiting messages into the transcript, in the order acknowledged; `turn` is the one that reads them. */
export function takeSteers(run: Run, turn: number, drain = run.policy.drain): void {
  const taken = run.inbox.drain(drain, Date.now(), turn);
  // what a person says is new: the same call again may be just what was asked for
  if (taken.length > 0) run.loop = NO_LOOPS;
  for (const { id, text } of taken) {
    run.transcript.append({ id, role: 'user', origin: 'steer', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'steer.delivered', id, turn });
  }
}
