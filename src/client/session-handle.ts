import { randomUUID } from 'node:crypto';
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { CLIENT_LIMITS } from '../contracts/constants/limits.js';
import * as wire from '../contracts/handlers.js';
import { PerdureError } from '../contracts/perdure-error.js';
import type { Receipt } from '../contracts/schemas/run.js';
import type { SendInput, SessionEvent, SessionEventPage, SessionInput, SessionState, Unsent } from '../contracts/schemas/session.js';
import { SESSION_SIGNALS, SESSION_UPDATES } from '../contracts/verbs/index.js';
import type { Verb } from '../contracts/verbs/verb.js';
import type { StreamSource } from '../streams/stream.js';
import { RunHandle } from './run-handle.js';
import { awaitMessage, type SessionOutcome, type SessionWaitOptions } from './sessions/await-message.js';
import { type SentMessage, sendDurably, sendWithReceipt } from './sessions/send-message.js';
import { checkSessionInput, type SessionOptions } from './sessions/session-input.js';
import { type SessionWatchItem, type SessionWatchOptions, watchSession } from './sessions/watch-session.js';
import type { TemporalAccess } from './temporal/connection.js';
import { isTimeout, noWorker, refusedUpdate } from './temporal/errors.js';
import { checkVerbInput } from './validate/run-input.js';

/**
 * One conversation: its runs answer one message after the other. The first message starts it. Every method may throw a PerdureError:
 * `TEMPORAL_UNREACHABLE` (5); `NO_SESSION` (3), if it needs a session that was started; `NO_WORKER` (5), if no worker answers within 5 s.
 * Invalid input throws (2) before anything is sent.
 */
export class SessionHandle {
  readonly key: string;
  readonly #input: SessionInput;
  readonly #access: TemporalAccess;
  readonly #workflow: WorkflowHandle;
  readonly #streams: StreamSource | undefined;

  constructor(access: TemporalAccess, key: string, options: SessionOptions = {}, streams?: StreamSource) {
    this.#input = checkSessionInput(key, options);
    this.key = this.#input.key;
    this.#access = access;
    this.#workflow = access.client.workflow.getHandle(wire.sessionId(this.key));
    this.#streams = streams;
  }

  /**
   * Sends a message and returns a receipt. `accepted: false`: the queue is full, or, with `duplicate: true`, the message was sent before and
   * dropped. Not durable until accepted: the error of a missing worker contains the ID to send the message with again.
   */
  async send(message: string | SendInput): Promise<Receipt> {
    return await sendWithReceipt(this.#access, this.#sent(SESSION_UPDATES.send, message));
  }

  /**
   * Sends a message without a receipt. Durable, even without a running worker. Returns the message ID. Query `session` shows what became of it.
   */
  async message(message: string | SendInput): Promise<{ id: string }> {
    const sent = this.#sent(SESSION_SIGNALS.message, message);
    await sendDurably(this.#access, sent);
    return { id: sent.message.id };
  }

  /** Withdraws a message that waits. Throws `NO_SUCH_MESSAGE` (3), or `MESSAGE_IN_WORK` (4) for one that a run works on or has answered. */
  async unsend(id: string): Promise<Unsent> {
    const input = checkVerbInput(SESSION_UPDATES.unsend, { id });
    const deadline = Date.now() + CLIENT_LIMITS.updateTimeoutMs;
    try {
      return await this.#access.client.withDeadline(deadline, () =>
        this.#workflow.executeUpdate(wire.SESSION_HANDLERS.unsend, { args: [input] }),
      );
    } catch (error) {
      if (isTimeout(error, deadline)) throw noWorker(this.#access.taskQueue, 'it may still be withdrawn; send the request again');
      throw error instanceof WorkflowUpdateFailedError ? refusedUpdate(error) : this.#translate(error);
    }
  }

  /** The active run, the queue, the last 50 runs, and the dropped messages. */
  async query(): Promise<SessionState> {
    try {
      return await this.#access.query(this.#workflow, wire.SESSION_HANDLERS.session);
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /**
   * A page of the events of the session, oldest first, after a position. The newest 1,000 are kept: a `first` above `after` + 1 shows that
   * some are missing between them.
   */
  async events(request: { readonly after?: number; readonly types?: readonly SessionEvent['type'][] } = {}): Promise<SessionEventPage> {
    const { after = 0, types } = request;
    try {
      return await this.#access.query(this.#workflow, wire.SESSION_HANDLERS.events, { after, ...(types ? { types } : {}) });
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /**
   * Waits until a message is answered or dropped; without an ID, until the session is idle. A timeout is an outcome, and changes nothing: the
   * session continues. Continues through a missing worker.
   */
  async wait(id?: string, options: SessionWaitOptions = {}): Promise<SessionOutcome> {
    const source = {
      state: () => this.query(),
      result: (runId: string, signal: AbortSignal) => this.#run(runId).result({ signal }),
    };
    return await awaitMessage(id, source, options);
  }

  /** Yields events, progress, tokens and results of the active run, and of each run after it, until the signal aborts. */
  watch(options: SessionWatchOptions = {}): AsyncGenerator<SessionWatchItem> {
    return watchSession({ state: () => this.query(), watch: (runId, of) => this.#run(runId).watch(of) }, options);
  }

  #run(runId: string): RunHandle {
    return new RunHandle(this.#access, runId, this.#streams);
  }

  /** The message, checked, with an id under which it is one message however often it is sent. */
  #sent(verb: Verb<SendInput, unknown>, given: string | SendInput): SentMessage {
    const { id = randomUUID(), ...message } = checkVerbInput(verb, given);
    return { session: this.#input, message: { id, ...message } };
  }

  #translate(error: unknown): unknown {
    const known = this.#access.translate(error, this.#workflow.workflowId);
    if (!(known instanceof PerdureError) || known.code !== 'RUN_NOT_FOUND') return known;
    return new PerdureError('NO_SESSION', `no session ${this.key}; its first message starts it; list sessions with 'perdure sessions'`, 3);
  }
}
