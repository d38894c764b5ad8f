import { randomUUID } from 'node:crypto';
import type { ContentBlock, StopReason } from '@agentclientprotocol/sdk';
import type { SessionHandle } from '../../client/session-handle.js';
import { requireAccepted } from '../../client/sessions/require-accepted.js';
import type { SessionOptions } from '../../client/sessions/session-input.js';
import { GATEWAY_LIMITS, SESSION_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SessionRun } from '../../contracts/schemas/session.js';
import { placeOf } from '../http/chat/chat-run.js';
import { storedChat } from '../http/chat/stored-chat.js';
import type { Reached } from './door.js';
import type { Editor } from './editor.js';
import { patiently, pause } from './patiently.js';
import { promptContent, promptText } from './prompt-content.js';
import { RunFollower } from './run-follower.js';
import { stopReasonOf } from './stop-reason.js';
import { storedUpdates } from './stored-updates.js';

/** What a session needs. */
export interface EditorSessionOptions {
  readonly reach: () => Promise<Reached>;
  /** Key of the durable session. */
  readonly key: string;
  /** Options of the session, if the next prompt is its first one. */
  readonly sessionOptions: () => Promise<SessionOptions>;
  readonly editor: Editor;
  /** Absolute path, for paths in tool calls. */
  readonly workspace: string;
  /** Makes sure that open runs continue when this process ends. */
  readonly keepRunning: () => Promise<void>;
  /** Ends what the session does. Its runs continue. */
  readonly ending: AbortSignal;
  readonly say: (line: string) => void;
}

/** A conversation of an editor: a durable session, of which each prompt has a run. */
export class EditorSession {
  readonly #options: EditorSessionOptions;
  readonly #closed = new AbortController();
  readonly #ending: AbortSignal;
  /** The runs that are followed, in the order of their prompts. */
  readonly #followers = new Map<string, RunFollower>();
  readonly #prompts = new Set<AbortController>();

  constructor(options: EditorSessionOptions) {
    this.#options = options;
    this.#ending = AbortSignal.any([options.ending, this.#closed.signal]);
  }

  /**
   * Sends a prompt and follows its run until it ends, or until it asks a question as text. `signal` cancels it, like `cancel`. Throws
   * PerdureError: for a prompt that is not accepted, and for a run that failed.
   */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const prompt = new AbortController();
    const done = new AbortController();
    this.#prompts.add(prompt);
    const cancelled = AbortSignal.any([prompt.signal, signal]);
    try {
      const answered = this.#answer(blocks, cancelled);
      const reason = await Promise.race([answered, this.#late(cancelled, done.signal)]);
      return cancelled.aborted ? 'cancelled' : reason;
    } catch (error) {
      if (cancelled.aborted && !this.#ending.aborted) return 'cancelled';
      throw error;
    } finally {
      this.#prompts.delete(prompt);
      done.abort();
    }
  }

  /** Cancels the prompts in work, and the runs that are followed. */
  cancel(): void {
    for (const prompt of this.#prompts) prompt.abort();
    for (const follower of this.#followers.values()) void this.#cancelRun(follower);
  }

  /**
   * Sends the stored conversation as updates. Runs that are still open are followed from there on, whether or not a prompt comes. Throws
   * `NO_SESSION`.
   */
  async replay(): Promise<void> {
    const reached = await this.#options.reach();
    const session = reached.client.session(this.#options.key);
    const { runs, queued } = await patiently(() => session.query(), this.#ending);
    for (const run of runs) {
      await this.#show(run, reached);
      if (run.reason === undefined) this.#follow(run.runId, reached);
    }
    for (const { id } of queued) void this.#followLater(id, reached);
  }

  /** Ends what the session does here. Its runs continue. */
  close(): void {
    this.#closed.abort();
  }

  async #answer(blocks: readonly ContentBlock[], cancelled: AbortSignal): Promise<StopReason> {
    const asking = [...this.#followers.values()].find(({ question, isOver }) => question !== undefined && !isOver);
    if (asking) {
      await asking.answer(promptText(blocks));
      return await this.#untilStop(asking, cancelled);
    }
    const message = { id: randomUUID(), ...promptContent(blocks), queue: 'followup' as const };
    const reached = await this.#options.reach();
    const session = reached.client.session(this.#options.key, await this.#options.sessionOptions());
    // an accepted prompt is durable, also if this process is killed right after it
    await this.#keepRunning();
    if (cancelled.aborted) return 'cancelled';
    requireAccepted(await patiently(() => session.send(message), AbortSignal.any([this.#ending, cancelled])));
    // what keeps runs open ends when there is none, as while the prompt waited for a worker
    void this.#keepRunning();
    const runId = await this.#runOf(message.id, { session, cancelled });
    return runId === undefined ? 'cancelled' : await this.#untilStop(this.#follow(runId, reached), cancelled);
  }

  async #keepRunning(): Promise<void> {
    try {
      await this.#options.keepRunning();
    } catch (error) {
      this.#options.say(`the run stops with this process: ${textOf(error)}`);
    }
  }

  async #untilStop(follower: RunFollower, cancelled: AbortSignal): Promise<StopReason> {
    const cancel = (): void => void this.#cancelRun(follower);
    if (cancelled.aborted) cancel();
    cancelled.addEventListener('abort', cancel, { once: true });
    try {
      const stop = await follower.stop();
      return 'result' in stop ? stopReasonOf(stop.result) : 'end_turn';
    } finally {
      cancelled.removeEventListener('abort', cancel);
    }
  }

  /** The run that a message got. Undefined for a message that was withdrawn because its prompt was cancelled. */
  async #runOf(
    id: string,
    { session, cancelled }: { readonly session: SessionHandle; readonly cancelled: AbortSignal },
  ): Promise<string | undefined> {
    let missed = 0;
    for (let pauseMs = PAUSE_MS_MIN; missed < MISSED_MAX; pauseMs = Math.min(2 * pauseMs, SESSION_LIMITS.followEveryMs)) {
      const place = placeOf(id, await patiently(() => session.query(), this.#ending));
      if (place !== undefined && place !== 'queued') {
        if ('runId' in place) return place.runId;
        if (cancelled.aborted) return undefined;
        throw new PerdureError('MESSAGE_DROPPED', `the prompt was dropped: ${place.dropped}`, 4);
      }
      if (place === undefined) missed += 1;
      else if (cancelled.aborted) {
        await this.#withdraw(id, session);
        pauseMs = PAUSE_MS_MIN;
      }
      // a cancel withdraws the message at once
      await pause(cancelled.aborted ? this.#ending : AbortSignal.any([this.#ending, cancelled]), pauseMs);
      this.#ending.throwIfAborted();
    }
    throw new PerdureError('MESSAGE_DROPPED', `session ${session.key} was ended from outside`, 4);
  }

  async #withdraw(id: string, session: SessionHandle): Promise<void> {
    try {
      await patiently(() => session.unsend(id), this.#ending);
    } catch (error) {
      // its run starts
      if (!(error instanceof PerdureError) || (error.code !== 'MESSAGE_IN_WORK' && error.code !== 'NO_SUCH_MESSAGE')) throw error;
    }
  }

  #follow(runId: string, { client, streams }: Reached): RunFollower {
    const known = this.#followers.get(runId);
    if (known) return known;
    const { editor, workspace, say } = this.#options;
    for (const [id, { isOver }] of this.#followers) if (isOver) this.#followers.delete(id);
    const follower = new RunFollower({ run: client.get(runId), streams, editor, workspace, ending: this.#ending, say });
    this.#followers.set(runId, follower);
    return follower;
  }

  /** Follows a message that waited when the conversation was loaded. */
  async #followLater(id: string, reached: Reached): Promise<void> {
    const session = reached.client.session(this.#options.key);
    const waiting = new AbortController();
    this.#prompts.add(waiting);
    try {
      const runId = await this.#runOf(id, { session, cancelled: waiting.signal });
      if (runId === undefined || this.#followers.has(runId)) return;
      await this.#show({ runId, messageIds: [id] }, reached);
      const follower = this.#follow(runId, reached);
      if (waiting.signal.aborted) await follower.cancel();
    } catch (error) {
      if (!this.#ending.aborted) this.#options.say(`message ${id} is not followed: ${textOf(error)}`);
    } finally {
      this.#prompts.delete(waiting);
    }
  }

  /** Sends what is stored of a run: the prompt, and its answer once the run has ended. */
  async #show(sessionRun: SessionRun, { client }: Reached): Promise<void> {
    const { editor, workspace } = this.#options;
    const { runId } = sessionRun;
    const { messages } = await patiently(() => storedChat([sessionRun], () => client.get(runId)), this.#ending);
    for (const update of messages.flatMap((message) => storedUpdates(message, { runId, workspace }))) await editor.update(update);
  }

  async #cancelRun(follower: RunFollower): Promise<void> {
    try {
      await follower.cancel();
    } catch (error) {
      if (!this.#ending.aborted) this.#options.say(`not cancelled: ${textOf(error)}`);
    }
  }

  /** Resolves some time after a cancel: it is durable by then. Rejects when the session ends here. */
  async #late(cancelled: AbortSignal, done: AbortSignal): Promise<StopReason> {
    await untilAborted(AbortSignal.any([cancelled, this.#ending, done]));
    if (!this.#ending.aborted) await pause(AbortSignal.any([this.#ending, done]), GATEWAY_LIMITS.cancelMsMax);
    if (this.#ending.aborted) throw new PerdureError('ENDED', 'the server ended; the run continues', 1);
    return 'cancelled';
  }
}

/** Most sessions start a run at once. */
const PAUSE_MS_MIN = 20;

/** A message that was accepted is listed at once. */
const MISSED_MAX = 10;

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
