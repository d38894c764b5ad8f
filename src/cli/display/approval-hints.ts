import type { WatchItem } from '../../client/watch/watch-run.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';

/**
 * Creates the hints on how to decide pending approvals while a run is watched. An approval that was decided before the watch started
 * needs no hint, so a hint is held back until the progress that follows the past events.
 */
export class ApprovalHints {
  readonly #runId: string;
  readonly #unshown = new Set<string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Takes the next item of a watch. Returns the lines to print after it. */
  take(item: WatchItem): string[] {
    if (item.type === 'event') {
      const { event } = item;
      if (event.type === 'approval.asked') this.#unshown.add(event.callId);
      if (event.type === 'approval.decided') this.#unshown.delete(event.callId);
    }
    if (item.type !== 'progress') return [];
    const lines = [...this.#unshown].map((callId) => `decide with: ${decisionCommands(this.#runId, callId)}`);
    this.#unshown.clear();
    return item.progress.phase === 'closed' ? [] : lines;
  }
}

/** The two commands that decide an approval. A reached limit is extended instead of approved. */
export function decisionCommands(runId: string, callId: string): string {
  const yes =
    callId === BUDGET_APPROVAL ? `perdure extend ${runId} --turns N (other limits: --help)` : `perdure approve ${runId} ${callId}`;
  return `${yes}   or: perdure deny ${runId} ${callId}`;
}
