import { randomUUID } from 'node:crypto';
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { RunSetup } from '../contracts/activities.js';
import { CLIENT_LIMITS, PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import type { EventPage, RunEvent } from '../contracts/event.js';
import * as wire from '../contracts/handlers.js';
import { PerdureError } from '../contracts/perdure-error.js';
import type { ApprovalList, DecidedApproval } from '../contracts/schemas/approval.js';
import type { Usage } from '../contracts/schemas/model.js';
import type {
  ExtendInput,
  HoldInput,
  Progress,
  Receipt,
  RunResult,
  SteerInput,
  SteerRecord,
  Step,
  TranscriptPage,
} from '../contracts/schemas/run.js';
import type { StreamSource } from '../streams/stream.js';
import { type ContinueOptions, continueRun } from './runs/continue-run.js';
import { describeRun, type RunDescription } from './runs/describe-run.js';
import type { TemporalAccess } from './temporal/connection.js';
import { isTimeout, noWorker, refusedUpdate, runClosed } from './temporal/errors.js';
import { checkDecision, checkExtend, checkHold, checkSteer } from './validate/steer-input.js';
import { type AwaitResultOptions, awaitResult } from './watch/await-result.js';
import { type WatchItem, type WatchOptions, watchRun } from './watch/watch-run.js';

/**
 * One run, live or closed. Every method may throw a PerdureError: `RUN_NOT_FOUND` (3), `RUN_CLOSED` (4) for what needs a live run,
 * `TEMPORAL_UNREACHABLE` (5); queries and updates also `NO_WORKER` (5) after 5 s. Bad input throws (2) before anything is sent.
 */
export class RunHandle {
  readonly runId: string;
  readonly #access: TemporalAccess;
  readonly #workflow: WorkflowHandle;
  readonly #streams: StreamSource | undefined;

  constructor(access: TemporalAccess, runId: string, streams?: StreamSource) {
    this.runId = runId;
    this.#access = access;
    this.#workflow = access.client.workflow.getHandle(runId);
    this.#streams = streams;
  }

  /**
   * Puts a message into the run, durable also while no worker lives. Gives the id under which it is one message, however often it is
   * sent; `steers` tells what became of it.
   */
  async steer(message: string | SteerInput): Promise<{ id: string }> {
    const checked = withId(checkSteer(message));
    await this.#signal(() => this.#workflow.signal(wire.steer, checked));
    return { id: checked.id };
  }

  /**
   * Like `steer`, with a receipt. Not durable until accepted: throws `NO_WORKER` when no worker took it within 5 s; the error names the id
   * to send it again under.
   */
  async submit(message: string | SteerInput): Promise<Receipt> {
    const checked = withId(checkSteer(message));
    return await this.#update(`send again with the same id ${checked.id}`, () =>
      this.#workflow.executeUpdate(wire.submit, { args: [checked], updateId: checked.id }),
    );
  }

  /** Raises caps of the live run by the given amounts. */
  async extend(by: ExtendInput): Promise<Progress> {
    const checked = checkExtend(by);
    return await this.#update('look at its caps and send again', () => this.#workflow.executeUpdate(wire.extend, { args: [checked] }));
  }

  /** The calls that wait for a person, and what was decided lately. */
  async approvals(): Promise<ApprovalList> {
    return await this.#access.query(this.#workflow, wire.approvals);
  }

  /**
   * Lets a waiting call run, once and as it was shown. Throws `NO_SUCH_APPROVAL` (3), `ALREADY_DECIDED` (4) with who decided and when,
   * or `BAD_ANSWER` (2).
   */
  async approve(callId: string, options: { readonly by?: string } = {}): Promise<DecidedApproval> {
    const { reason: _, ...checked } = checkDecision({ callId, ...options });
    return await this.#update(DECIDE_AGAIN, () => this.#workflow.executeUpdate(wire.approve, { args: [checked] }));
  }

  /** Refuses a waiting call, or more budget; the model reads who did and why. Throws as `approve` does. */
  async deny(callId: string, options: { readonly by?: string; readonly reason?: string } = {}): Promise<DecidedApproval> {
    const checked = checkDecision({ callId, ...options });
    return await this.#update(DECIDE_AGAIN, () => this.#workflow.executeUpdate(wire.deny, { args: [checked] }));
  }

  /** Asks the run to end. Durable; a run that is closed already stays as it is, and its status is given back. */
  async cancel(options: { readonly reason?: string } = {}): Promise<{ alreadyClosed?: string }> {
    const reason = options.reason?.slice(0, PAYLOAD_LIMITS.failureMessageBytesMax);
    try {
      await this.#signal(() => this.#workflow.signal(wire.cancel, reason === undefined ? {} : { reason }));
      return {};
    } catch (error) {
      if (!(error instanceof PerdureError) || error.code !== 'RUN_CLOSED') throw error;
      return { alreadyClosed: (await this.describe()).status };
    }
  }

  /** Lets running calls finish and starts no further one, until `resume`. Durable. */
  async pause(): Promise<void> {
    await this.#signal(() => this.#workflow.signal(wire.pause));
  }

  /** Goes on after `pause`. Durable. */
  async resume(): Promise<void> {
    await this.#signal(() => this.#workflow.signal(wire.resume));
  }

  /**
   * Keeps the run from starting its next turn while a live conversation goes on: until `release`, or until its time is over. A second
   * hold sets its end anew. Durable.
   */
  async hold(options: HoldInput = {}): Promise<void> {
    const checked = checkHold(options);
    await this.#signal(() => this.#workflow.signal(wire.hold, checked));
  }

  /** Ends a hold; without one nothing happens. Durable. */
  async release(): Promise<void> {
    await this.#signal(() => this.#workflow.signal(wire.release));
  }

  /** What Temporal itself knows of the run: needs no worker. */
  async describe(): Promise<RunDescription> {
    return await describeRun(this.#access, this.#workflow);
  }

  async progress(): Promise<Progress> {
    return await this.#access.query(this.#workflow, wire.progress);
  }

  /** The messages, page by page. */
  async *transcript(options: { readonly from?: number; readonly bytesMax?: number } = {}): AsyncGenerator<TranscriptPage> {
    const bytesMax = options.bytesMax ?? PAYLOAD_LIMITS.pageBytesDefault;
    let from = options.from ?? 0;
    while (true) {
      const page = await this.#access.query(this.#workflow, wire.transcript, { from, bytesMax });
      if (page.messages.length > 0) yield page;
      if (page.messages.length === 0 || page.next >= page.length) return;
      from = page.next;
    }
  }

  async events(request: { readonly after?: number; readonly types?: readonly RunEvent['type'][] } = {}): Promise<EventPage> {
    return await this.#access.query(this.#workflow, wire.events, { ...request, after: request.after ?? 0 });
  }

  /** What became of the messages that were put into the run: those that ended in their order, then those that wait. Also after the end. */
  async steers(): Promise<readonly SteerRecord[]> {
    return await this.#access.query(this.#workflow, wire.steers);
  }

  /** How each of the last turns went: status, times, usage, calls. Also after the end. */
  async steps(): Promise<readonly Step[]> {
    return await this.#access.query(this.#workflow, wire.steps);
  }

  async usage(): Promise<{ total: Usage; last?: Usage; costUsd?: number }> {
    return await this.#access.query(this.#workflow, wire.usage);
  }

  /** Prompt and tools, as captured at the start of the run. */
  async setup(): Promise<RunSetup> {
    return await this.#access.query(this.#workflow, wire.setup);
  }

  /** Waits for the end, through lost connections. Always a result, also of a failed, cancelled or terminated run. */
  async result(options: AwaitResultOptions = {}): Promise<RunResult> {
    return await awaitResult(this.#access, this.#workflow, options);
  }

  /** Events, progress and tokens as they come, and the result at last. */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchItem> {
    return watchRun({ access: this.#access, handle: this.#workflow, streams: this.#streams }, options);
  }

  /** Starts a new run from where this closed one ended. Throws `RUN_OPEN` (4) before it has. */
  async continue(options: ContinueOptions = {}): Promise<{ run: RunHandle; executionId: string }> {
    const { handle, executionId } = await continueRun(this.#access, this.#workflow, options);
    return { run: new RunHandle(this.#access, handle.workflowId, this.#streams), executionId };
  }

  async #signal(send: () => Promise<void>): Promise<void> {
    try {
      await this.#access.client.withDeadline(Date.now() + CLIENT_LIMITS.connectTimeoutMs, send);
    } catch (error) {
      throw await this.#whyRefused(error);
    }
  }

  /**
   * Sends an update to a worker that is proved alive by a query first: an update that waits in the server for a worker would be delivered
   * later although its sender was told that it was not.
   */
  async #update<T>(resend: string, send: () => Promise<T>): Promise<T> {
    const { status } = await this.describe();
    if (!isLive(status)) throw runClosed(this.runId, status);
    await this.#access.query(this.#workflow, wire.progress).catch((error: unknown) => {
      throw error instanceof PerdureError && error.code === 'NO_WORKER'
        ? noWorker(this.#access.taskQueue, `not accepted; ${resend}`)
        : error;
    });
    const deadline = Date.now() + CLIENT_LIMITS.updateTimeoutMs;
    try {
      return await this.#access.client.withDeadline(deadline, send);
    } catch (error) {
      if (isTimeout(error, deadline)) throw noWorker(this.#access.taskQueue, `no receipt, it may still arrive; ${resend}`);
      throw await this.#whyRefused(error);
    }
  }

  async #whyRefused(error: unknown): Promise<unknown> {
    if (error instanceof WorkflowUpdateFailedError) return refusedUpdate(error);
    if (!(error instanceof WorkflowNotFoundError)) return this.#access.translate(error, this.runId);
    // Temporal says "not found" of a closed run too: ask which it is
    const { status } = await this.describe();
    return runClosed(this.runId, status);
  }
}

/** Which decision counts is the run's to say, so one that may have arrived is safely made again. */
const DECIDE_AGAIN = 'decide again';

function withId(message: SteerInput): SteerInput & { readonly id: string } {
  return { ...message, id: message.id ?? randomUUID() };
}

function isLive(status: RunDescription['status']): boolean {
  return status === 'running' || status === 'paused' || status === 'waiting';
}
