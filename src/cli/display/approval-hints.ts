import type { WatchItem } from '../../client/watch/watch-run.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';

/**
 * Creates the hints on how to decide pending approvals and to answer questions while a run is watched. One that was decided before the
 * watch started needs no hint, so a hint is held back until the progress that follows the past events.
 */
export class ApprovalHints {
  readonly #runId: string;
  /** The hints by the ids of their calls. */
  readonly #unshown = new Map<string, string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Takes the next item of a watch. Returns the lines to print after it. */
  take(item: WatchItem): string[] {
    if (item.type === 'event') {
      const { event } = item;
      if (event.type === 'approval.asked') this.#unshown.set(event.callId, `decide with: ${decisionCommands(this.#runId, event.callId)}`);
      if (event.type === 'question.asked') this.#unshown.set(event.callId, `answer with: ${answerCommands(this.#runId, event.callId)}`);
      if (event.type === 'approval.decided' || event.type === 'question.answered') this.#unshown.delete(event.callId);
    }
    if (item.type !== 'progress') return [];
    const lines = [...this.#unshown.values()];
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

/** The two commands that end a question. */
export function answerCommands(runId: string, callId: string): string {
  return `perdure answer ${runId} ${callId} "ANSWER"   or: perdure deny ${runId} ${callId}`;
}
