import { workflowInfo } from '@temporalio/workflow';
import type { AwaitRunResult } from '../../contracts/activities.js';
import { CONTINUE_AS_NEW_LIMITS, PAYLOAD_LIMITS, SESSION_LIMITS } from '../../contracts/constants/limits.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Conversation } from '../../contracts/schemas/conversation.js';
import type { PreparedSession, SessionEventBody, SessionInput, SessionRun, SessionState } from '../../contracts/schemas/session.js';
import { fitNewest } from '../policies/tools/truncate-approvals.js';
import { EventLog } from '../state/event-log.js';
import { type CarriedQueue, type QueuedSend, type QueueRules, SessionQueue } from './session-queue.js';

/** The active run of a session. */
export interface ActiveRun {
  readonly runId: string;
  /** The first of its executions. Empty until the server has it. */
  readonly executionId: string;
  /** The messages that it answers, without those that were passed to it. */
  readonly messageIds: readonly string[];
  /** The messages that were passed to it, in order, until it ends. */
  readonly steered: readonly QueuedSend[];
  /** It was asked to stop. */
  readonly stopping?: boolean;
}

/** The state that a session carries over continue-as-new. Fields are only ever added. */
export interface CarriedSession {
  readonly v: 1;
  readonly executionId: string;
  readonly prepared: PreparedSession;
  readonly queue: CarriedQueue;
  readonly active?: ActiveRun;
  readonly runs: readonly SessionRun[];
  /** Number of the last run. */
  readonly number: number;
  readonly conversation?: Conversation;
  readonly events: CarriedState['events'];
}

/** The state of one session. Handlers write the queue; one loop owns the rest. */
export class Session {
  readonly input: SessionInput;
  /** The first execution of the session. */
  readonly executionId: string;
  readonly queue: SessionQueue;
  readonly events: EventLog<SessionEventBody>;
  prepared: PreparedSession | undefined;
  active: ActiveRun | undefined;
  /** How the active run ended, once this is known. */
  end: AwaitRunResult | undefined;
  number: number;
  conversation: Conversation | undefined;
  /** Why it cannot be used: its messages are rejected, or dropped. */
  problem: string | undefined;
  /** Temporal's own cancellation was requested. */
  isCancelled = false;
  /** What the session waits for, for operators. */
  waitingFor: string | undefined;
  /** The status that the search attributes have. */
  status: 'running' | 'waiting' | undefined;
  /** Signals and updates in this history. */
  signals = 0;
  updates = 0;
  #runs: readonly SessionRun[];

  constructor(input: SessionInput, carried?: CarriedSession) {
    this.input = input;
    this.executionId = carried?.executionId ?? workflowInfo().firstExecutionRunId;
    this.queue = new SessionQueue(carried?.queue);
    this.events = carried ? EventLog.from<SessionEventBody>(carried.events) : new EventLog<SessionEventBody>();
    this.prepared = carried?.prepared;
    this.active = carried?.active;
    this.number = carried?.number ?? 0;
    this.conversation = carried?.conversation;
    this.#runs = carried?.runs ?? [];
    this.queue.onDropped = ({ id, reason }) => this.events.add({ type: 'message.dropped', id, reason });
  }

  get workflowId(): string {
    return workflowInfo().workflowId;
  }

  get key(): string {
    return this.input.key;
  }

  /** The options of the queue: of the session, of its channel, of the config, built in. */
  get rules(): QueueRules {
    const { mode, cap, drop, debounceMs } = { ...this.prepared?.queue, ...this.input.queue };
    return {
      mode: mode ?? 'followup',
      cap: cap ?? SESSION_LIMITS.capDefault,
      drop: drop ?? 'new',
      debounceMs: debounceMs ?? SESSION_LIMITS.debounceMsDefault,
    };
  }

  /** True when the active run can be passed another message. */
  get takesSteers(): boolean {
    const { active } = this;
    return active !== undefined && !active.stopping && this.end === undefined && active.steered.length < SESSION_LIMITS.steersMax;
  }

  /** True for a history that should not grow further. */
  get isLong(): boolean {
    const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
    const { eventsMax, historyBytesMax, signalsMax, updatesMax } = CONTINUE_AS_NEW_LIMITS;
    return (
      continueAsNewSuggested ||
      historyLength > (this.input.bounds?.continueAsNewEvents ?? eventsMax) ||
      historySize > historyBytesMax ||
      this.signals >= signalsMax ||
      this.updates >= updatesMax
    );
  }

  /** Changes the active run. */
  updateActive(change: Partial<ActiveRun>): void {
    if (this.active) this.active = { ...this.active, ...change };
  }

  /** Takes what a worker determined. In a history that continues the session, its start was checked before, or needed no signature. */
  prepare(prepared: PreparedSession): void {
    const { signed, ...others } = prepared;
    const isSigned = this.prepared ? this.prepared.signed === true && signed === true : signed === true;
    this.prepared = { ...others, ...(isSigned ? { signed: true } : {}) };
  }

  /** Adds a run that ended, and forgets the oldest ones. */
  addRun(run: SessionRun): void {
    // query `session` shows the active run too
    this.#runs = fitNewest([...this.#runs, run], { countMax: SESSION_LIMITS.runsShown - 1, bytesMax: LIST_BYTES_MAX });
  }

  /** The session as query `session` shows it. */
  state(): SessionState {
    const { active, waitingFor, queue } = this;
    const current = active && { runId: active.runId, messageIds: idsOf(active) };
    return {
      key: this.key,
      ...(active ? { active: active.runId } : {}),
      ...(waitingFor === undefined ? {} : { waitingFor }),
      queued: fitNewest(queue.list(this.rules).toReversed(), LIST_BOUNDS).toReversed(),
      runs: [...this.#runs, ...(current ? [current] : [])],
      dropped: fitNewest(queue.dropped, LIST_BOUNDS),
    };
  }

  /** The state that continue-as-new carries over. A session continues as new only after it was prepared. */
  carry(prepared: PreparedSession): CarriedSession {
    return {
      v: 1,
      executionId: this.executionId,
      prepared,
      queue: this.queue.carry(),
      ...(this.active ? { active: this.active } : {}),
      runs: this.#runs,
      number: this.number,
      ...(this.conversation ? { conversation: this.conversation } : {}),
      // only events tell what became of each message: a reader may be behind by as many as are kept
      events: this.events.carry(PAYLOAD_LIMITS.eventsMax),
    };
  }
}

/** Each list of query `session` has a quarter of what outsiders can read. */
const LIST_BYTES_MAX = PAYLOAD_LIMITS.outsideBytesMax / 4;
const LIST_BOUNDS = { countMax: Number.POSITIVE_INFINITY, bytesMax: LIST_BYTES_MAX };

/** The messages of the active run: those that it answers, then those that were passed to it. */
function idsOf({ messageIds, steered }: ActiveRun): string[] {
  return [...messageIds, ...steered.map(({ id }) => id)];
}
