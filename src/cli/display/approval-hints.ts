import type { WatchItem } from '../../client/watch/watch-run.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';

/**
 * Tells a watcher how to answer what a run asks a person. What was asked and answered before the watcher came needs no hint, so each waits
 * for the progress that comes after the events known so far.
 */
export class ApprovalHints {
  readonly #runId: string;
  readonly #unsaid = new Set<string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Takes what a watcher is told, in order; gives the lines to say after it. */
  take(item: WatchItem): string[] {
    if (item.type === 'event') {
      const { event } = item;
      if (event.type === 'approval.asked') this.#unsaid.add(event.callId);
      if (event.type === 'approval.decided') this.#unsaid.delete(event.callId);
    }
    if (item.type !== 'progress') return [];
    const lines = [...this.#unsaid].map((callId) => `decide with: ${decisionCommands(this.#runId, callId)}`);
    this.#unsaid.clear();
    return item.progress.phase === 'closed' ? [] : lines;
  }
}

/** The two commands that decide. More of a cap is not approved but given. */
export function decisionCommands(runId: string, callId: string): string {
  const yes = callId === BUDGET_APPROVAL ? `perdure extend ${runId} --turns N (--help: other caps)` : `perdure approve ${runId} ${callId}`;
  return `${yes}   or: perdure deny ${runId} ${callId}`;
}
