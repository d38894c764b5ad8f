import { randomUUID } from 'node:crypto';
import type { SessionHandle } from '../../client/session-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SendMessage } from './run-hold.js';

/**
 * The lines that a person sends while a session answers. They go to the session, not to its run: a run that ends at that moment returns them
 * to the queue, and the next run answers them. `next` gives each accepted one, so that its answer is shown.
 */
export class SentLines {
  readonly #session: Pick<SessionHandle, 'key' | 'send'>;
  readonly #ids: string[] = [];
  #sending: Promise<unknown> = Promise.resolve();
  /** The last line without a receipt. The same text gets the same id, so that it is one message. */
  #unsure: { readonly id: string; readonly text: string } | undefined;

  constructor(session: Pick<SessionHandle, 'key' | 'send'>) {
    this.#session = session;
  }

  /** Sends a line. One for a held run stops it, and the next run answers. Rejects as `SessionHandle.send`, and with `QUEUE_FULL` (4). */
  readonly send: SendMessage = (text, { interrupt }) => {
    const sent = this.#send(text, interrupt);
    this.#sending = Promise.allSettled([this.#sending, sent]);
    return sent;
  };

  /** The id of the next accepted line, once no request is on its way. Undefined if there is none. */
  async next(): Promise<string | undefined> {
    await this.#sending;
    return this.#ids.shift();
  }

  async #send(text: string, interrupt: boolean): Promise<void> {
    const id = this.#unsure?.text === text ? this.#unsure.id : randomUUID();
    this.#unsure = { id, text };
    const { accepted } = await this.#session.send({ id, text, queue: interrupt ? 'interrupt' : 'steer' });
    this.#unsure = undefined;
    if (!accepted)
      throw new PerdureError('QUEUE_FULL', `the queue of session ${this.#session.key} is full; send the message again later`, 4);
    this.#ids.push(id);
  }
}
