import { setTimeout as delay } from 'node:timers/promises';
import type { RunHandle } from '../../../client/run-handle.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { SentMessage } from '../checks/evidence.js';
import type { PlannedMessage } from '../plan/plan.js';

const RETRY_MS = 200;
const RETRIES_MS_MAX = 60_000;

/** Sends messages to a run while faults strike. A message without an acknowledgement is sent again with the same id. */
export class MessageSender {
  readonly #run: RunHandle;
  readonly #sending: Promise<SentMessage>[] = [];

  constructor(run: RunHandle) {
    this.#run = run;
  }

  send(message: PlannedMessage): void {
    const number = this.#sending.length + 1;
    this.#sending.push(this.#sendUntilAcknowledged({ id: `${this.#run.runId}-message-${number}`, text: `Message ${number}.` }, message));
  }

  /** Resolves when each message is acknowledged, or the run is closed. */
  async sent(): Promise<readonly SentMessage[]> {
    return await Promise.all(this.#sending);
  }

  async #sendUntilAcknowledged(message: { readonly id: string; readonly text: string }, { by }: PlannedMessage): Promise<SentMessage> {
    const until = Date.now() + RETRIES_MS_MAX;
    while (Date.now() < until) {
      try {
        if (by === 'signal') await this.#run.steer(message);
        else if (!(await this.#run.submit(message)).accepted) break;
        return { id: message.id, acknowledged: true };
      } catch (error) {
        if (!(error instanceof PerdureError) || error.code === 'RUN_CLOSED') break;
      }
      await delay(RETRY_MS);
    }
    return { id: message.id, acknowledged: false };
  }
}
