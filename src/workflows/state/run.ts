import { workflowInfo } from '@temporalio/workflow';
import type { PreparedRun } from '../../contracts/activities.js';
import { CONTINUE_AS_NEW_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import { NO_COUNTERS, NO_WORK, NOT_COMPACTED } from '../../contracts/initial-state.js';
import { tokensOfThinking } from '../../contracts/models/thinking-tokens.js';
import type { CarriedState, CompactionMemory, WorkRecord } from '../../contracts/schemas/carried-state.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { ExtendInput, Progress, RunInput, RunResult, RunStatus } from '../../contracts/schemas/run.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { CHARS_PER_TOKEN } from '../../contracts/text/estimate-tokens.js';
import { TenantShare } from '../ledgers/tenant-share.js';
import { type BudgetFacts, finalOutputTokens, outputTokensAllowed, payableModels, spentBudgets } from '../policies/stop/budget.js';
import { hasManyMessages, historyIsLong } from '../policies/stop/history-bounds.js';
import { stopReason } from '../policies/stop/stop-reason.js';
import { AgentAtWork } from './agent-at-work.js';
import { Approvals } from './approvals.js';
import { RunningCalls } from './calls/running-calls.js';
import { Samplings } from './calls/samplings.js';
import { Caps } from './caps.js';
import type { EventLog } from './event-log.js';
import { GuardStates } from './guards.js';
import type { Inbox } from './inbox.js';
import { ModelRoute } from './model-route.js';
import { Questions } from './questions.js';
import { Spending } from './spending.js';
import { StepLog } from './step-log.js';
import type { ParentContinued } from './subagents/parent-continued.js';
import { Subagents } from './subagents/subagents.js';
import { Transcript } from './transcript.js';
import { Waits } from './waits.js';
import { WorkClock } from './work-clock.js';

/** The state of one run, which the loop reads and writes. Signal handlers write only the inbox. */
export class Run {
  readonly input: RunInput;
  readonly agent: AgentAtWork;
  readonly inbox: Inbox;
  readonly events: EventLog;
  readonly transcript: Transcript;
  /** A handoff replaces it. */
  route: ModelRoute;
  readonly spending: Spending;
  readonly tenant: TenantShare | undefined;
  readonly approvals: Approvals;
  readonly questions: Questions;
  readonly samplings = new Samplings();
  readonly steps: StepLog;
  readonly subagents: Subagents;
  readonly waits: Waits;
  readonly calls = new RunningCalls();
  readonly clock: WorkClock;
  readonly caps: Caps;
  readonly counters: Counters;
  readonly models: string[];
  /** Distinguishes the ids of this run's messages from those of the run it continues. */
  readonly idPrefix: string;
  readonly parentContinued: ParentContinued;
  /** Turns taken in this execution: each execution takes at least one before it continues as new. */
  turnsHere = 0;
  warned: boolean;
  readonly guards: GuardStates;
  isRepeating: boolean;
  compaction: CompactionMemory;
  /** Answers of `pure` tools: call hash to the id of the call whose result is in the transcript. */
  readonly memo: Map<string, string>;
  /** The work so far, for the completion checks; empty where the policy has none. */
  work: WorkRecord;
  /** Ids of the newest calls whose outcome is unknown. */
  readonly unknownOutcomes: string[];
  lastDecision: string | undefined;
  turnInProgress: CarriedState['turnInProgress'];
  phase: Progress['phase'] = 'preparing';
  tool: string | undefined;
  /** Title of the last call in this execution. */
  lastTool: string | undefined;
  result: RunResult | undefined;
  deadlineReached = false;

  constructor(parts: Pick<Run, 'input' | 'inbox' | 'events' | 'parentContinued'> & { prepared: PreparedRun; carried?: CarriedState }) {
    const { input, prepared, carried } = parts;
    this.input = input;
    this.agent = new AgentAtWork(prepared, carried?.handoffs);
    this.inbox = parts.inbox;
    this.events = parts.events;
    this.parentContinued = parts.parentContinued;
    this.transcript = carried ? Transcript.from(carried) : new Transcript();
    this.caps = new Caps(input, prepared, carried?.caps);
    this.counters = carried?.counters ?? { ...NO_COUNTERS };
    this.models = carried?.models ?? [];
    this.warned = carried?.warned ?? false;
    this.route = new ModelRoute(prepared, carried?.route);
    this.spending = new Spending(this.route.current, carried);
    this.tenant = prepared.tenant && new TenantShare(prepared.tenant, carried?.tenant);
    this.approvals = new Approvals(carried?.approvals);
    this.questions = new Questions(carried?.questions);
    this.waits = new Waits(carried?.sleeps);
    this.steps = new StepLog(carried?.steps);
    this.subagents = new Subagents(carried?.subagents);
    this.guards = new GuardStates(carried);
    this.isRepeating = carried?.isRepeating ?? false;
    this.compaction = carried?.compaction ?? NOT_COMPACTED;
    this.memo = new Map(carried?.memo);
    this.work = carried?.work ?? NO_WORK;
    this.unknownOutcomes = [...(carried?.unknownOutcomes ?? [])];
    this.lastDecision = carried?.lastDecision;
    this.turnInProgress = carried?.turnInProgress;
    this.idPrefix = hashJson(workflowInfo().firstExecutionRunId).slice(0, 6);
    this.clock = new WorkClock({
      workedMs: carried?.workedMs ?? 0,
      deadlineMs: carried ? carried.caps.deadlineMs : (input.deadlineMs ?? prepared.deadlineMs),
      onDeadline: () => {
        this.deadlineReached = true;
        this.calls.abort();
      },
    });
  }

  get prepared(): PreparedRun {
    return this.agent.prepared;
  }

  get policy(): RunPolicy {
    return this.agent.policy;
  }

  get runId(): string {
    return workflowInfo().workflowId;
  }

  get taskId(): string {
    return `${this.idPrefix}-task`;
  }

  get status(): RunStatus {
    if (this.result) return this.result.reason;
    if (this.waits.paused) return 'paused';
    return this.waits.waiting ? 'waiting' : 'running';
  }

  /** The waiting reason for operators: a pause first, else the newest wait. */
  get waitingFor(): string | undefined {
    return this.result ? undefined : this.waits.reason;
  }

  descriptor(tool: string): ToolDescriptor | undefined {
    return this.agent.tools.get(tool);
  }

  toolNames(): string[] {
    return [...this.agent.tools.keys()];
  }

  /** Why no further turn may start; undefined when one may. */
  stopReason(): ReturnType<typeof stopReason> {
    return stopReason({
      cancelRequested: this.inbox.cancelRequest !== undefined,
      // in a fresh history the time may be over before its timer fires
      deadlineReached: this.deadlineReached || (this.isGuarded && this.clock.isOver),
      budgetSpent: this.outputTokensAllowed() === 'spent',
      turn: this.counters.turn,
      maxTurns: this.caps.maxTurns,
    });
  }

  /** The spent limits, as update `extend` names them. */
  spentCaps(): (keyof ExtendInput)[] {
    return [
      ...(this.counters.turn >= this.caps.maxTurns ? ['turns' as const] : []),
      ...spentBudgets(this.budget()),
      ...(this.clock.isOver ? ['deadlineMs' as const] : []),
    ];
  }

  /** The output limit of the next answer under the run's budget, in tokens. */
  outputTokensAllowed(): number | 'spent' {
    return outputTokensAllowed(this.budget());
  }

  /** The output limit of the reserved final answer, in tokens. */
  finalOutputTokens(): number {
    return finalOutputTokens(this.budget());
  }

  /** The models that the cost limit can pay for the reserved final answer; all of them when it can pay none. */
  payableModels(): readonly ModelCandidate[] {
    return payableModels(this.route.candidates, this.budget());
  }

  /** Estimated input tokens of the next request: a quarter of its characters, and no fewer than the last call reported. */
  inputTokensEstimate(): number {
    const { count, reported } = this.compaction;
    // a report from before the last compaction does not apply to the next request
    const lastUsage = count > (reported?.compactions ?? 0) ? undefined : this.spending.lastUsage;
    const byChars = this.agent.setupTokens + Math.ceil(this.transcript.bytes / CHARS_PER_TOKEN);
    return Math.max(byChars, (lastUsage?.inputTokens ?? 0) + (lastUsage?.outputTokens ?? 0));
  }

  /** False for runs that version 0.1 prepared: they keep their behaviour. */
  get isGuarded(): boolean {
    return this.prepared.policy !== undefined;
  }

  /** True after a cancel or the deadline: nothing new may start. */
  get mustStop(): boolean {
    return this.inbox.cancelRequest !== undefined || this.deadlineReached;
  }

  /** True when the run is certain to end: raising a limit comes too late. */
  get isEnding(): boolean {
    return this.mustStop || this.phase === 'finalising' || this.result !== undefined;
  }

  /** True when a wait for a model should continue as new: the setbacks begin anew there, so only for messages that the server would refuse. */
  get floods(): boolean {
    return this.policy.continuesAtFloods && hasManyMessages(this.#messageFacts());
  }

  historyIsLong(): boolean {
    if (this.parentContinued.awaitsCancel) return false;
    const info = workflowInfo();
    return (
      this.parentContinued.continuesSoon ||
      historyIsLong({
        ...this.#messageFacts(),
        suggested: info.continueAsNewSuggested,
        events: info.historyLength,
        bytes: info.historySize,
        eventsMax: this.input.bounds?.continueAsNewEvents,
      })
    );
  }

  /** Raises limits; a run that waits at its budget continues. */
  extend(by: ExtendInput): void {
    this.caps.raise(by);
    if (by.deadlineMs !== undefined) this.clock.extend(by.deadlineMs);
    this.events.add({ type: 'extended', maxTurns: this.caps.maxTurns });
  }

  /** The state that continue-as-new carries over. */
  carry(): CarriedState {
    return {
      v: 1,
      ...this.agent.carry(),
      ...this.transcript.carry(),
      caps: this.caps.carry(this.clock.deadlineMs),
      counters: { ...this.counters, steers: this.inbox.accepted },
      warned: this.warned,
      workedMs: this.clock.workedMs,
      usage: this.spending.carry(),
      models: this.models,
      route: {
        ...this.route.carry(),
        byModel: [...this.spending.byModel],
        ...(this.spending.isEstimated ? { usageEstimated: true } : {}),
      },
      ...this.inbox.carry(),
      approvals: this.approvals.carry(),
      ...this.guards.carry(this.work),
      isRepeating: this.isRepeating,
      compaction: this.compaction,
      memo: [...this.memo],
      steps: this.steps.carry(),
      ...(this.unknownOutcomes.length === 0 ? {} : { unknownOutcomes: this.unknownOutcomes }),
      ...(this.lastDecision === undefined ? {} : { lastDecision: this.lastDecision }),
      events: this.events.carry(),
      ...(this.tenant ? { tenant: this.tenant.carry() } : {}),
      ...this.subagents.carry(),
      ...this.parentContinued.carry(),
      ...this.questions.carry(),
      ...this.waits.carry(),
      ...(this.turnInProgress ? { turnInProgress: this.turnInProgress } : {}),
    };
  }

  #messageFacts(): Parameters<typeof hasManyMessages>[0] {
    const { signals, updates } = this.inbox;
    const { signalsMax, signalsMaxBefore } = CONTINUE_AS_NEW_LIMITS;
    const max = this.policy.continuesAtFloods ? signalsMax : signalsMaxBefore;
    return { signals, updates, signalsMax: this.input.bounds?.continueAsNewSignals ?? max };
  }

  /** The facts of the budget, for the next request. */
  budget(): BudgetFacts {
    return {
      ...this.spending.committed(this.subagents.reserved),
      maxTokens: this.caps.maxTokens,
      maxCostUsd: this.caps.maxCostUsd,
      price: this.route.current.price,
      thinkingTokens: tokensOfThinking(this.route.thinking ?? 'off'),
      inputTokens: this.inputTokensEstimate(),
      finalReadsAnswer: this.isGuarded,
    };
  }
}

/** The counters of a run: turns and calls over the whole run, and recoveries in a row, which a good turn resets. */
export type Counters = CarriedState['counters'];
