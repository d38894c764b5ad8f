import { Context } from '@temporalio/activity';
import type { HeartbeatDetails } from '../../contracts/activities.js';
import { LOSS_LIMITS, WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { steadyMs } from './steady-clock.js';

/** The attempt of an activity is no longer the current one, or that could not be confirmed. The message says which. */
class NotOwnedError extends Error {
  override readonly name = 'NotOwnedError';
}

/** What the server answered to a heartbeat. `stopping`: a cancel, a pause or a reset was requested. `none`: it could not be reached. */
export type Answer = 'owned' | 'stopping' | 'not-owned' | 'none';

const attempts = new WeakMap<Context, Ownership>();

/** The ownership of the running attempt; undefined outside of `withHeartbeat`. */
export function ownershipOf(context: Context = Context.current()): Ownership | undefined {
  return attempts.get(context);
}

/**
 * The knowledge of one attempt about whether the server still counts it as the current one. It sends heartbeats over calls that return,
 * because those of the SDK do not report whether the server took them.
 *
 * An attempt without an acknowledged heartbeat for 0.8 of the heartbeat timeout is lost: the server may soon start another one. A
 * heartbeat counts from the time it was sent, so that the end of a suspended process is noticed with the first look.
 */
export class Ownership {
  /** Aborted when the attempt is lost. */
  readonly signal: AbortSignal;
  readonly #context: Context;
  readonly #details: () => HeartbeatDetails;
  readonly #lost = new AbortController();
  readonly #timeoutMs: number | undefined;
  #ackedMs = steadyMs();
  #inFlight = 0;
  #ticks = 0;
  #deadline: NodeJS.Timeout | undefined;
  #onAck: (() => void) | undefined;

  constructor(context: Context, details: () => HeartbeatDetails) {
    const { heartbeatTimeoutMs, isLocal } = context.info;
    this.#context = context;
    this.#details = details;
    // a local activity has no task on the server
    this.#timeoutMs = isLocal || !hasClient(context) ? undefined : heartbeatTimeoutMs;
    this.signal = this.#lost.signal;
    attempts.set(context, this);
  }

  /** Time between two heartbeats. */
  get everyMs(): number {
    if (this.#timeoutMs === undefined) return WORKER_LIMITS.heartbeatEveryMs;
    return Math.min(WORKER_LIMITS.heartbeatEveryMs, this.#timeoutMs / LOSS_LIMITS.heartbeatsPerTimeoutMin);
  }

  get isLost(): boolean {
    return this.#lost.signal.aborted;
  }

  /** True if heartbeats that were due are not acknowledged: the server cannot be reached now. */
  get isSilent(): boolean {
    return this.#timeoutMs !== undefined && this.#silentMs > 1.5 * this.everyMs;
  }

  /** Sends a heartbeat. Called every `everyMs`; never throws. */
  beat(): void {
    this.#ticks += 1;
    if (this.#timeoutMs === undefined) return this.#context.heartbeat(this.#details());
    // the SDK's own heartbeats deliver cancellations, and keep it from cancelling a call that it takes for a silent one
    if (this.#ticks % Math.max(1, Math.floor(this.#timeoutMs / 4 / this.everyMs)) === 0) this.#context.heartbeat(this.#details());
    this.check();
    if (this.isLost) return;
    this.#watchDeadline();
    if (this.#inFlight < IN_FLIGHT_MAX) void this.#send();
  }

  /** Aborts the signal if the attempt is lost by now. Tools are checked with each look at their signal. */
  check(): void {
    const fenceMs = this.#fenceMs;
    if (fenceMs === undefined || this.isLost || this.#silentMs < fenceMs) return;
    this.#lose(`the server acknowledged no heartbeat for ${Math.round(this.#silentMs / 100) / 10} s`);
  }

  /** Asks the server whether the attempt is the current one. Throws NotOwnedError if not, or without an answer within 2 s. */
  async confirm(): Promise<void> {
    this.check();
    this.#throwIfLost();
    if (this.#timeoutMs === undefined) return;
    const answer = await Promise.race([this.#send(), answerAfter(LOSS_LIMITS.assertOwnedMsMax)]);
    this.check();
    this.#throwIfLost();
    if (answer === 'stopping') throw new NotOwnedError('this call is being stopped');
    if (answer !== 'owned') {
      const seconds = LOSS_LIMITS.assertOwnedMsMax / 1_000;
      throw new NotOwnedError(`the server did not confirm within ${seconds} s that this call may continue`);
    }
  }

  /**
   * Confirms an attempt whose task may be older than the heartbeat timeout: this process may have been suspended between the task and the
   * start. Throws as `confirm` does. The clocks of two machines may differ; then this costs a request.
   */
  async confirmStart(): Promise<void> {
    const fenceMs = this.#fenceMs;
    if (fenceMs !== undefined && Date.now() - this.#context.info.currentAttemptScheduledTimestampMs > fenceMs) await this.confirm();
  }

  /**
   * Resolves when the server can be reached, so that the end of the activity can be reported; immediately if heartbeats are acknowledged.
   * Resolves too when the attempt is lost or cancelled. Never rejects.
   */
  async untilReachable(): Promise<void> {
    const { cancellationSignal } = this.#context;
    if (!this.isSilent || this.isLost || cancellationSignal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#onAck = resolve;
      for (const signal of [this.signal, cancellationSignal]) signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Stops the timer of this attempt. */
  end(): void {
    clearTimeout(this.#deadline);
  }

  get #silentMs(): number {
    return steadyMs() - this.#ackedMs;
  }

  get #fenceMs(): number | undefined {
    return this.#timeoutMs === undefined ? undefined : this.#timeoutMs * LOSS_LIMITS.fenceFraction;
  }

  async #send(): Promise<Answer> {
    const sentMs = steadyMs();
    this.#inFlight += 1;
    const answer = await askServer(this.#context, this.#details());
    this.#inFlight -= 1;
    if (answer === 'not-owned') this.#lose('the server counts this attempt as ended');
    if (answer === 'stopping' && !this.#context.cancellationSignal.aborted) this.#context.heartbeat(this.#details());
    if (answer === 'owned' || answer === 'stopping') {
      this.#ackedMs = Math.max(this.#ackedMs, sentMs);
      if (!this.isSilent) this.#onAck?.();
    }
    return answer;
  }

  /** Heartbeats may be rarer than the rest of the time: the end is not left to the next one. */
  #watchDeadline(): void {
    const leftMs = (this.#fenceMs ?? Infinity) - this.#silentMs;
    if (leftMs > this.everyMs) return;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.check(), leftMs + 1).unref();
  }

  #lose(why: string): void {
    if (!this.isLost) this.#lost.abort(new NotOwnedError(`this worker lost the ownership of the call: ${why}`));
  }

  #throwIfLost(): void {
    if (this.isLost) throw this.signal.reason;
  }
}

/** Heartbeats that wait for an answer at once. Within a request the SDK already retries. */
const IN_FLIGHT_MAX = 3;

/** Sends one heartbeat and reads the answer. Never rejects. */
export async function askServer({ client, info }: Context, details: HeartbeatDetails): Promise<Answer> {
  try {
    await client.withDeadline(Date.now() + LOSS_LIMITS.heartbeatRequestMsMax, () => client.activity.heartbeat(info.taskToken, details));
    return 'owned';
  } catch (error) {
    switch (error instanceof Error ? error.name : '') {
      case 'ActivityNotFoundError':
        return 'not-owned';
      case 'ActivityCancelledError':
      case 'ActivityPausedError':
      case 'ActivityResetError':
        return 'stopping';
      default:
        // an outage, or a refusal that the next heartbeat may not get; without an acknowledgement the attempt is lost in time
        return 'none';
    }
  }
}

function answerAfter(ms: number): Promise<Answer> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('none'), ms).unref();
  });
}

/** False in an activity environment of a test. */
function hasClient(context: Context): boolean {
  try {
    return Boolean(context.client);
  } catch {
    return false;
  }
}
