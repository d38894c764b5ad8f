import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../contracts/activities.js';
import type { CarriedState } from '../contracts/carried-state.js';
import { hashJson } from '../contracts/digest.js';
import type { Message } from '../contracts/message.js';
import { addUsage, costOf, NO_USAGE, type Usage } from '../contracts/model.js';
import type { ExtendInput, Progress, RunInput, RunResult, RunStatus } from '../contracts/run.js';
import type { ToolDescriptor } from '../contracts/tool.js';
import type { EventLog } from './event-log.js';
import type { Inbox } from './inbox.js';
import { type BudgetFacts, finalOutputTokens, outputTokensAllowed } from './policies/budget.js';
import { historyIsLong } from './policies/history-bounds.js';
import { stopReason } from './policies/stop-reason.js';
import { publishAttributes, publishStatus } from './progress.js';
import { Transcript } from './transcript.js';
import { WorkClock } from './work-clock.js';

/** What a loop finds when it asks whether it may go on. */
export type Gate = 'go' | 'stop' | 'continue-as-new';

/** The state of one run: what the loop reads and writes. Handlers never touch it; they write the inbox. */
export class Run {
  readonly input: RunInput;
  readonly prepared: PreparedRun;
  readonly inbox: Inbox;
  readonly events: EventLog;
  readonly transcript: Transcript;
  readonly clock: WorkClock;
  readonly caps: { maxTurns: number; maxTokens: number | undefined; maxCostUsd: number | undefined };
  readonly counters: CarriedState['counters'];
  readonly models: string[];
  /** Distinguishes the ids of this run's messages from those of the run it continues. */
  readonly idPrefix: string;
  /** Turns taken in this history: each execution takes at least one before it continues as new. */
  turnsHere = 0;
  warned: boolean;
  usage: Usage;
  lastUsage: Usage | undefined;
  costUsd: number | undefined;
  turnInProgress: CarriedState['turnInProgress'];
  phase: Progress['phase'] = 'preparing';
  tool: string | undefined;
  result: RunResult | undefined;
  deadlineReached = false;
  readonly #tools: ReadonlyMap<string, ToolDescriptor>;
  readonly #scopes = new Set<CancellationScope>();
  readonly #waits = new Set<{ readonly reason: string }>();
  readonly #setupTokens: number;
  #pauseShown = false;

  constructor(parts: { input: RunInput; prepared: PreparedRun; inbox: Inbox; events: EventLog; carried?: CarriedState }) {
    const { input, prepared, carried } = parts;
    this.input = input;
    this.prepared = prepared;
    this.inbox = parts.inbox;
    this.events = parts.events;
    this.transcript = carried ? Transcript.from(carried) : new Transcript();
    this.caps = {
      maxTurns: carried?.caps.maxTurns ?? prepared.maxTurns,
      maxTokens: carried?.caps.maxTokens ?? input.maxTokens,
      maxCostUsd: carried?.caps.maxCostUsd ?? input.maxCostUsd,
    };
    this.counters = carried?.counters ?? { turn: 0, toolCalls: 0, truncatedAnswers: 0, pausedAnswers: 0, emptyAnswers: 0, steers: 0 };
    this.models = carried?.models ?? [];
    this.warned = carried?.warned ?? false;
    this.usage = carried?.usage.total ?? NO_USAGE;
    this.lastUsage = carried?.usage.last;
    this.costUsd = carried ? carried.usage.costUsd : prepared.price && 0;
    this.turnInProgress = carried?.turnInProgress;
    this.idPrefix = hashJson(workflowInfo().firstExecutionRunId).slice(0, 6);
    this.#tools = new Map(prepared.setup.tools.map((tool) => [tool.name, tool]));
    this.#setupTokens = estimateTokens(JSON.stringify(prepared.setup).length);
    this.clock = new WorkClock({
      workedMs: carried?.workedMs ?? 0,
      deadlineMs: carried?.caps.deadlineMs ?? input.deadlineMs,
      onDeadline: () => {
        this.deadlineReached = true;
        this.abort();
      },
    });
  }

  get runId(): string {
    return workflowInfo().workflowId;
  }

  get taskId(): string {
    return `${this.idPrefix}-task`;
  }

  /** The messages of this run alone: those it was given stand before its task. */
  get ownMessages(): readonly Message[] {
    const { messages } = this.transcript;
    return messages.slice(messages.findLastIndex(({ id }) => id === this.taskId));
  }

  get status(): RunStatus {
    if (this.result) return this.result.reason;
    if (this.#pauseShown) return 'paused';
    return this.#waits.size > 0 ? 'waiting' : 'running';
  }

  /** What the run waits for, as an operator reads it: a person who paused it before all else, then the newest wait. */
  get waitingFor(): string | undefined {
    if (this.result) return undefined;
    return this.#pauseShown ? 'resume' : [...this.#waits].at(-1)?.reason;
  }

  descriptor(tool: string): ToolDescriptor | undefined {
    return this.#tools.get(tool);
  }

  toolNames(): string[] {
    return [...this.#tools.keys()];
  }

  /** Why no further turn may start; undefined when one may. */
  stopReason(): ReturnType<typeof stopReason> {
    return stopReason({
      cancelRequested: this.inbox.cancelRequest !== undefined,
      deadlineReached: this.deadlineReached,
      budgetSpent: this.outputTokensAllowed() === 'spent',
      turn: this.counters.turn,
      maxTurns: this.caps.maxTurns,
    });
  }

  /** How long the next answer may be under the run's budget. */
  outputTokensAllowed(): number | 'spent' {
    return outputTokensAllowed(this.#budget());
  }

  /** How long the reserved final answer may be. */
  finalOutputTokens(): number {
    return finalOutputTokens(this.#budget());
  }

  /** Input of the next request: a quarter of its characters, and no less than what the last call reported. */
  inputTokensEstimate(): number {
    const byChars = this.#setupTokens + estimateTokens(this.transcript.bytes);
    return Math.max(byChars, (this.lastUsage?.inputTokens ?? 0) + (this.lastUsage?.outputTokens ?? 0));
  }

  /** True once a person's cancel or the deadline came: nothing new may start. */
  get mustStop(): boolean {
    return this.inbox.cancelRequest !== undefined || this.deadlineReached;
  }

  /** True once the run can only end: raising a cap comes too late. */
  get isEnding(): boolean {
    return this.mustStop || this.phase === 'finalising' || this.result !== undefined;
  }

  historyIsLong(): boolean {
    const info = workflowInfo();
    return historyIsLong({
      suggested: info.continueAsNewSuggested,
      events: info.historyLength,
      bytes: info.historySize,
      signals: this.inbox.signals,
      updates: this.inbox.updates,
      eventsMax: this.input.bounds?.continueAsNewEvents,
    });
  }

  /** Asked before each call: waits while paused, then says whether the call may start. The clock stands still meanwhile. */
  async gate(): Promise<Gate> {
    if (this.mustStop) return 'stop';
    if (!this.inbox.paused) return 'go';
    this.#showPause();
    await condition(() => !this.inbox.paused || this.mustStop || this.historyIsLong());
    if (this.inbox.paused && !this.mustStop) return 'continue-as-new';
    this.#endPause();
    return this.mustStop ? 'stop' : 'go';
  }

  /** Waits for a time that a stop cuts short. */
  async wait(ms: number, reason: string): Promise<void> {
    await this.whileWaiting(reason, () => condition(() => this.mustStop, ms));
  }

  /** Shows `reason` to operators for as long as `work` takes; several calls of one batch may wait at once. */
  async whileWaiting<T>(reason: string, work: () => Promise<T>): Promise<T> {
    const wait = { reason };
    this.#waits.add(wait);
    this.events.add({ type: 'waiting', for: reason });
    publishStatus(this);
    try {
      return await work();
    } finally {
      this.#waits.delete(wait);
      publishStatus(this);
    }
  }

  /** Runs calls that a cancel or the deadline aborts through their heartbeats. */
  async abortable<T>(start: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope();
    this.#scopes.add(scope);
    try {
      return await scope.run(start);
    } finally {
      this.#scopes.delete(scope);
    }
  }

  /** Aborts what runs now. */
  abort(): void {
    for (const scope of this.#scopes) scope.cancel();
  }

  /** Counts the usage of a model call, also of one that was lost. */
  charge(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    if (this.prepared.price) this.costUsd = (this.costUsd ?? 0) + costOf(usage, this.prepared.price);
  }

  /** Raises caps. */
  extend(by: ExtendInput): void {
    this.caps.maxTurns += by.turns ?? 0;
    if (this.caps.maxTokens !== undefined) this.caps.maxTokens += by.tokens ?? 0;
    if (this.caps.maxCostUsd !== undefined) this.caps.maxCostUsd += by.costUsd ?? 0;
    if (by.deadlineMs !== undefined) this.clock.extend(by.deadlineMs);
    this.events.add({ type: 'extended', maxTurns: this.caps.maxTurns });
  }

  /** What continue-as-new takes along. */
  carry(): CarriedState {
    return {
      v: 1,
      prepared: this.prepared,
      ...this.transcript.carry(),
      caps: omitUndefined({ ...this.caps, deadlineMs: this.clock.deadlineMs }),
      counters: { ...this.counters, steers: this.inbox.accepted },
      warned: this.warned,
      workedMs: this.clock.workedMs,
      usage: omitUndefined({ total: this.usage, last: this.lastUsage, costUsd: this.costUsd }),
      models: this.models,
      ...this.inbox.carry(),
      events: this.events.carry(),
      ...(this.turnInProgress ? { turnInProgress: this.turnInProgress } : {}),
    };
  }

  #budget(): BudgetFacts {
    return {
      used: this.usage,
      costUsd: this.costUsd ?? 0,
      maxTokens: this.caps.maxTokens,
      maxCostUsd: this.caps.maxCostUsd,
      price: this.prepared.price,
      inputTokens: this.inputTokensEstimate(),
    };
  }

  #showPause(): void {
    if (this.#pauseShown) return;
    this.#pauseShown = true;
    this.clock.stop();
    this.events.add({ type: 'paused' });
    this.#publishTransition();
  }

  #endPause(): void {
    if (!this.#pauseShown) return;
    this.#pauseShown = false;
    this.events.add({ type: 'resumed' });
    this.clock.start();
    this.#publishTransition();
  }

  #publishTransition(): void {
    publishAttributes(this, { AgentStatus: this.status });
    publishStatus(this);
  }
}

function estimateTokens(chars: number): number {
  return Math.ceil(chars / 4);
}

/** Drops undefined fields: carried data is JSON. */
function omitUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // the entries left are exactly the defined ones
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
