import type { RunHandle } from '../../client/run-handle.js';
import type { RunEvent } from '../../contracts/event.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Requests } from './requests.js';

/** A message that is sent to a run or to its session. */
export type SendMessage = (text: string, how: { readonly interrupt: boolean }) => Promise<unknown>;

/** A run that can be held, and how messages reach it. */
export interface Held {
  readonly run: Pick<RunHandle, 'hold' | 'release'>;
  readonly send: SendMessage;
  readonly by: { readonly by?: string };
  readonly requests: Requests;
}

/** The hold that a person has on a run. Its requests arrive in the order of the keys. */
export class RunHold {
  readonly #held: Held;
  /** What the person asked for last. */
  #isWanted = false;
  /** What the server accepted. */
  #isHeld = false;
  /** Holds whose event was not seen. An end of a hold that is seen before belongs to an older one. */
  #unseen = 0;

  constructor(held: Held) {
    this.#held = held;
  }

  /** True from the request of a hold to its end. */
  get isOn(): boolean {
    return this.#isWanted;
  }

  take(event: RunEvent): void {
    if (event.type === 'held' && event.by === (this.#held.by.by ?? event.by)) this.#unseen = Math.max(0, this.#unseen - 1);
    if (event.type !== 'released' || this.#unseen > 0) return;
    this.#isHeld = false;
    this.#isWanted = false;
  }

  async hold(): Promise<void> {
    const { requests, run, by } = this.#held;
    this.#isWanted = true;
    this.#unseen += 1;
    const isAccepted = await requests.send(async () => {
      // a run that has just ended needs no hold, and no report of it
      this.#isHeld = await run.hold(by).then(() => true, ifClosed);
    });
    if (isAccepted && this.#isHeld) return;
    this.#unseen = Math.max(0, this.#unseen - 1);
    this.#isWanted &&= this.#isHeld;
  }

  /** Sends a message, which is there before a held run continues. Resolves with false if it was not sent: the run stays held then. */
  async send(text: string): Promise<boolean> {
    const wasOn = this.#isWanted;
    this.#isWanted = false;
    const isSent = text === '' || (await this.#held.requests.send(() => this.#held.send(text, { interrupt: this.#isHeld && wasOn })));
    if (wasOn && (!isSent || !(await this.release()))) this.#isWanted = this.#isHeld;
    return isSent;
  }

  /** Ends the hold. Resolves with false if the run is still held. */
  async release(): Promise<boolean> {
    return await this.#held.requests.send(async () => {
      if (!this.#isHeld) return;
      await this.#held.run.release().catch(ifClosed);
      this.#isHeld = false;
    });
  }
}

/** A message can end the run that was held, or it ends by itself. */
function ifClosed(error: unknown): false {
  if (!(error instanceof PerdureError) || error.code !== 'RUN_CLOSED') throw error;
  return false;
}
