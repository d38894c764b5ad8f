import { randomUUID } from 'node:crypto';
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { RunSetup } from '../contracts/activities.js';
import { CLIENT_LIMITS } from '../contracts/constants/limits.js';
import type { EventPage, RunEvent } from '../contracts/event.js';
import * as wire from '../contracts/handlers.js';
import type { TypedRunResult } from '../contracts/json/output-schema.js';
import { PerdureError } from '../contracts/perdure-error.js';
import type { ApprovalList, DecidedApproval } from '../contracts/schemas/approval.js';
import type { JsonValue } from '../contracts/schemas/message.js';
import type { Usage } from '../contracts/schemas/model.js';
import type { TranscriptPage, UnreadMessage } from '../contracts/schemas/page.js';
import type { AnsweredQuestion } from '../contracts/schemas/question.js';
import type { ExtendInput, HoldInput, Progress, Receipt, SteerInput, SteerRecord } from '../contracts/schemas/run.js';
import type { Step } from '../contracts/schemas/step.js';
import { SIGNALS, UPDATES } from '../contracts/verbs/index.js';
import type { AnyVerb, Verb } from '../contracts/verbs/verb.js';
import type { StreamSource } from '../streams/stream.js';
import { type ContinueOptions, continueRun } from './runs/continue-run.js';
import { describeRun, type RunDescription } from './runs/describe-run.js';
import type { TemporalAccess } from './temporal/connection.js';
import { isTimeout, noWorker, refusedUpdate, runClosed } from './temporal/errors.js';
import { readPages, readUnread } from './temporal/read-messages.js';
import { checkVerbInput } from './validate/run-input.js';
import { type AwaitResultOptions, awaitResult } from './watch/await-result.js';
import { type WatchItem, type WatchOptions, watchRun } from './watch/watch-run.js';

/**
 * One run, open or closed. Every method may throw a PerdureError: `RUN_NOT_FOUND` (3); `RUN_CLOSED` (4), if it needs an open run;
 * `TEMPORAL_UNREACHABLE` (5). A signal throws `SIGNAL_LIMIT` (4) if the server takes no more of them for this run. Queries and updates also throw `NO_WORKER` (5) after 5 s. Invalid input throws (2) before anything is sent.
 *
 * @typeParam Structured the type of the structured answer
 */
export class RunHandle<Structured = JsonValue> {
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
   * Sends a message to the run. Durable, even without a running worker. Returns the message ID, which makes a resend idempotent. `steers`
   * returns the state of the message.
   */
  async steer(message: string | SteerInput): Promise<{ id: string }> {
    // every message that is sent has an id
    const { id = '' } = await this.#signal(SIGNALS.steer, message);
    return { id };
  }

  /**
   * Like `steer`, with a receipt. Not durable until accepted: throws `NO_WORKER` if no worker accepts it within 5 s. The error contains the
   * ID to resend the message with.
   */
  async submit(message: string | SteerInput): Promise<Receipt> {
    return await this.#update(UPDATES.submit, message);
  }

  /** Increases limits of the live run by the given amounts. */
  async extend(by: ExtendInput): Promise<Progress> {
    return await this.#update(UPDATES.extend, by);
  }

  /** The pending approvals and questions, and the latest decisions and answers. */
  async approvals(): Promise<ApprovalList> {
    return await this.#access.query(this.#workflow, wire.approvals);
  }

  /**
   * Approves a pending call. It runs once, with the arguments that were shown. Throws `NO_SUCH_APPROVAL` (3), `ALREADY_DECIDED` (4) with
   * the name and the time of the decision, or `BAD_ANSWER` (2).
   */
  async approve(callId: string, options: { readonly by?: string } = {}): Promise<DecidedApproval> {
    return await this.#update(UPDATES.approve, { callId, ...options });
  }

  /**
   * Answers a pending question of the agent: with a text, or with one of its choices or the number of a choice. Throws
   * `NO_SUCH_QUESTION` (3), `ALREADY_ANSWERED` (4) with the name and the time, or `BAD_ANSWER` (2), which leaves the question pending.
   */
  async answer(callId: string, text: string, options: { readonly by?: string } = {}): Promise<AnsweredQuestion> {
    return await this.#update(UPDATES.answer, { callId, answer: text, ...options });
  }

  /**
   * Denies a pending call or a limit increase, or declines a question. The model sees the name and the reason. Throws as `approve` and
   * `answer` do.
   */
  async deny(callId: string, options: { readonly by?: string; readonly reason?: string } = {}): Promise<DecidedApproval> {
    return await this.#update(UPDATES.deny, { callId, ...options });
  }

  /**
   * Requests the cancellation of the run. Durable. Returns the status of a run that is already closed. A run that takes no more signals is
   * cancelled without the reason.
   */
  async cancel(options: { readonly reason?: string } = {}): Promise<{ alreadyClosed?: string }> {
    try {
      await this.#cancel(options);
      return {};
    } catch (error) {
      if (!(error instanceof PerdureError) || error.code !== 'RUN_CLOSED') throw error;
      return { alreadyClosed: (await this.describe()).status };
    }
  }

  /** Pauses the run after its running calls finish, until `resume`. Durable. */
  async pause(): Promise<void> {
    await this.#signal(SIGNALS.pause, {});
  }

  /** Continues a paused run. Durable. */
  async resume(): Promise<void> {
    await this.#signal(SIGNALS.resume, {});
  }

  /**
   * Holds the run before its next turn, for example during a live conversation: until `release`, or until `ttlMs` has passed. A second
   * hold replaces the end time. Durable.
   */
  async hold(options: HoldInput = {}): Promise<void> {
    await this.#signal(SIGNALS.hold, options);
  }

  /** Releases a held run. No effect without a hold. Durable. */
  async release(): Promise<void> {
    await this.#signal(SIGNALS.release, {});
  }

  /**
   * Sends any verb of the table, for the command line. A signal returns its input as it was sent, an update its answer.
   *
   * @internal
   */
  async send(verb: AnyVerb, input: Readonly<Record<string, unknown>>): Promise<unknown> {
    return verb.kind === 'signal' ? await this.#signal(verb, input) : await this.#update(verb, input);
  }

  /** Describes the run from the data of the server. Needs no worker. */
  async describe(): Promise<RunDescription> {
    return await describeRun(this.#access, this.#workflow);
  }

  async progress(): Promise<Progress> {
    return await this.#access.query(this.#workflow, wire.progress);
  }

  /** Yields the messages, page by page. A message is whole, however large. */
  transcript(options: { readonly from?: number; readonly bytesMax?: number } = {}): AsyncGenerator<TranscriptPage> {
    return readPages((request) => this.#access.query(this.#workflow, wire.transcript, request), options);
  }

  /** The messages that were accepted and not delivered, whole and in order. A closed run keeps them. */
  async unread(): Promise<readonly UnreadMessage[]> {
    // a worker of an earlier version shows none
    return (await readUnread(this.#access, this.#workflow)) ?? [];
  }

  async events(request: { readonly after?: number; readonly types?: readonly RunEvent['type'][] } = {}): Promise<EventPage> {
    return await this.#access.query(this.#workflow, wire.events, { ...request, after: request.after ?? 0 });
  }

  /** The states of the messages sent to the run: the finished ones in order, then the pending ones. Also works for a closed run. */
  async steers(): Promise<readonly SteerRecord[]> {
    return await this.#access.query(this.#workflow, wire.steers);
  }

  /** The status, times, usage and calls of each recent turn. Also works for a closed run. */
  async steps(): Promise<readonly Step[]> {
    return await this.#access.query(this.#workflow, wire.steps);
  }

  async usage(): Promise<{ total: Usage; last?: Usage; costUsd?: number }> {
    return await this.#access.query(this.#workflow, wire.usage);
  }

  /** The prompt and the tools, as captured at the start of the run. */
  async setup(): Promise<RunSetup> {
    return await this.#access.query(this.#workflow, wire.setup);
  }

  /** Waits until the run is closed, through lost connections. A failed, cancelled or terminated run has a result too. */
  async result(options: AwaitResultOptions = {}): Promise<TypedRunResult<Structured>> {
    // the worker accepts only an answer that matches the schema of the run
    return (await awaitResult(this.#access, this.#workflow, options)) as TypedRunResult<Structured>;
  }

  /** Yields events, progress and tokens as they arrive, then the result. */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchItem> {
    return watchRun({ access: this.#access, handle: this.#workflow, streams: this.#streams }, options);
  }

  /**
   * Continues this closed run as a new run. With the same options again it finds that run (`duplicate`). Throws `RUN_OPEN` (4) if this
   * run is still open.
   */
  async continue<Next = Structured>(
    options: ContinueOptions<Next> = {},
  ): Promise<{ run: RunHandle<Next>; executionId: string; duplicate: boolean }> {
    const { handle, executionId, duplicate } = await continueRun(this.#access, this.#workflow, options);
    return { run: new RunHandle<Next>(this.#access, handle.workflowId, this.#streams), executionId, duplicate };
  }

  async #cancel(options: { readonly reason?: string }): Promise<void> {
    try {
      await this.#signal(SIGNALS.cancel, options);
    } catch (error) {
      if (!(error instanceof PerdureError) || error.code !== 'SIGNAL_LIMIT') throw error;
      // Temporal's own request is no signal
      await this.#withDeadline(() => this.#workflow.cancel());
    }
  }

  /** Checks and sends a signal; returns its input as it was sent. */
  async #signal<Input extends object>(verb: Verb<Input, unknown>, given: unknown): Promise<Input> {
    const input = withId(checkVerbInput(verb, given), verb);
    const args = Object.keys(verb.fields).length === 0 ? [] : [input];
    await this.#withDeadline(() => this.#workflow.signal(verb.name, ...args));
    return input;
  }

  async #withDeadline(send: () => Promise<unknown>): Promise<void> {
    try {
      await this.#access.client.withDeadline(Date.now() + CLIENT_LIMITS.connectTimeoutMs, send);
    } catch (error) {
      throw await this.#whyRefused(error);
    }
  }

  /**
   * Sends an update, after a query has proved that a worker is running. Without a worker, the server would keep the update and deliver it
   * after the caller got `NO_WORKER`.
   */
  async #update<Input extends object, Answer>(verb: Verb<Input, Answer>, given: unknown): Promise<Answer> {
    const input = withId(checkVerbInput(verb, given), verb);
    const resend = verb.resend?.(input) ?? 'send again';
    const { status } = await this.describe();
    if (!isLive(status)) throw runClosed(this.runId, status);
    await this.#access.query(this.#workflow, wire.progress).catch((error: unknown) => {
      throw error instanceof PerdureError && error.code === 'NO_WORKER'
        ? noWorker(this.#access.taskQueue, `not accepted; ${resend}`)
        : error;
    });
    const deadline = Date.now() + CLIENT_LIMITS.updateTimeoutMs;
    const args = [await this.#signed(verb, input)] as const;
    const updateId = 'id' in input && typeof input.id === 'string' ? { updateId: input.id } : {};
    try {
      return await this.#access.client.withDeadline(deadline, () =>
        this.#workflow.executeUpdate<Answer, [Input]>(verb.name, { args: [...args], ...updateId }),
      );
    } catch (error) {
      if (isTimeout(error, deadline)) throw noWorker(this.#access.taskQueue, `no receipt, the update may still be delivered; ${resend}`);
      throw await this.#whyRefused(error);
    }
  }

  /** With the signature of the server's owner, which is no field of the verb. */
  async #signed<Input extends object>({ name }: Verb<Input, unknown>, input: Input): Promise<Input> {
    if (name !== 'approve' && name !== 'answer' && name !== 'extend') return input;
    const auth = await this.#access.sign({ verb: name, runId: this.runId, input });
    return auth === undefined ? input : { ...input, auth };
  }

  async #whyRefused(error: unknown): Promise<unknown> {
    if (error instanceof WorkflowUpdateFailedError) return refusedUpdate(error);
    if (!(error instanceof WorkflowNotFoundError)) return this.#access.translate(error, this.runId);
    // the server also reports "not found" for a closed run
    const { status } = await this.describe();
    return runClosed(this.runId, status);
  }
}

/** A message has an id, under which it is one message however often it is sent. */
function withId<Input extends object>(input: Input, { fields }: Pick<Verb<Input, unknown>, 'fields'>): Input {
  return 'id' in fields && !('id' in input) ? { ...input, id: randomUUID() } : input;
}

function isLive(status: RunDescription['status']): boolean {
  return status === 'running' || status === 'paused' || status === 'waiting';
}
