import type { Run } from './run.js';

/** Moves waiting messages into the transcript, in the order acknowledged; `turn` is the one that reads them. */
export function takeSteers(run: Run, turn: number): void {
  for (const { id, text } of run.inbox.drain(run.policy.drain, Date.now(), turn)) {
    run.transcript.append({ id, role: 'user', origin: 'steer', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'steer.delivered', id, turn });
  }
}
