import { randomUUID } from 'node:crypto';
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { RunSetup } from '../contracts/activities.js';
import { PerdureError } from '../contracts/coded-error.js';
import type { EventPage, RunEvent } from '../contracts/event.js';
import * as wire from '../contracts/handlers.js';
import { CLIENT_LIMITS, PAYLOAD_LIMITS } from '../contracts/limits.js';
import type { Usage } from '../contracts/model.js';
import type { ExtendInput, Progress, Receipt, RunResult, SteerInput, TranscriptPage } from '../contracts/run.js';
import type { StreamSource } from '../streams/stream-sink.js';
import { type AwaitResultOptions, awaitResult } from './await-result.js';
import { checkExtend, checkSteer } from './check-steer.js';
import { type ContinueOptions, continueRun } from './continue-run.js';
import { isTimeout, noWorker, runClosed } from './errors.js';
import { describeRun, type RunDescription } from './run-description.js';
import type { TemporalAccess } from './temporal-access.js';
import type { WatchItem } from './watch-item.js';
import { type WatchOptions, watchRun } from './watch-run.js';

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

  /** Puts a message into the run, durable also while no worker lives. Gives the id under which it is one message, however often it is sent. */
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
    return await this.#update(checked.id, () => this.#workflow.executeUpdate(wire.submit, { args: [checked], updateId: checked.id }));
  }

  /** Raises caps of the live run by the given amounts. */
  async extend(by: ExtendInput): Promise<Progress> {
    const checked = checkExtend(by);
    const updateId = randomUUID();
    return await this.#update(updateId, () => this.#workflow.executeUpdate(wire.extend, { args: [checked], updateId }));
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
  async #update<T>(id: string, send: () => Promise<T>): Promise<T> {
    const resend = `not accepted; send again with the same id ${id}`;
    const { status } = await this.describe();
    if (!isLive(status)) throw runClosed(this.runId, status);
    await this.#access.query(this.#workflow, wire.progress).catch((error: unknown) => {
      throw error instanceof PerdureError && error.code === 'NO_WORKER' ? noWorker(this.#access.taskQueue, resend) : error;
    });
    const deadline = Date.now() + CLIENT_LIMITS.updateTimeoutMs;
    try {
      return await this.#access.client.withDeadline(deadline, send);
    } catch (error) {
      if (isTimeout(error, deadline))
        throw noWorker(this.#access.taskQueue, `no receipt, it may still arrive; send again with the same id ${id}`);
      throw await this.#whyRefused(error);
    }
  }

  async #whyRefused(error: unknown): Promise<unknown> {
    if (error instanceof WorkflowUpdateFailedError) {
      const { cause } = error;
      const type = cause instanceof ApplicationFailure ? cause.type : undefined;
      return new PerdureError('UPDATE_REFUSED', `${type ?? 'refused'}: ${cause?.message ?? error.message}`, 4, { cause: error });
    }
    if (!(error instanceof WorkflowNotFoundError)) return this.#access.translate(error, this.runId);
    // Temporal says "not found" of a closed run too: ask which it is
    const { status } = await this.describe();
    return runClosed(this.runId, status);
  }
}

function withId(message: SteerInput): SteerInput & { readonly id: string } {
  return { ...message, id: message.id ?? randomUUID() };
}

function isLive(status: RunDescription['status']): boolean {
  return status === 'running' || status === 'paused' || status === 'waiting';
}
