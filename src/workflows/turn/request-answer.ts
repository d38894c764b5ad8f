import { workflowInfo } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult } from '../../contracts/activities.js';
import { MODEL_LIMITS, PROVIDER_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { ToolChoice, Usage } from '../../contracts/schemas/model.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import { waitWhilePaused } from '../operator/pause-and-hold.js';
import { wait, waitForRoom } from '../operator/wait.js';
import { keyOf, type ModelPair } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import { type ActivityProblem, afterLoss, lostAttempt, readActivityProblem } from '../temporal/failures.js';
import { callModel } from '../temporal/proxies.js';
import { type ChosenModel, type CoolingWait, chooseModel } from './choose-model.js';
import { compactWhenNeeded } from './compact-transcript.js';
import { applyDirectives } from './deliver-messages.js';
import { handleFailedCall } from './retry-model.js';
import { isCharged, lostUsage, newSetbacks, type Setbacks } from './setbacks.js';

/** One answer that is requested from the models of the route. */
export interface AnswerRequest {
  readonly requestOnly: readonly Message[];
  readonly toolChoice: ToolChoice;
  /** The reserved final call. It has its own time limit and is not a turn. */
  readonly final?: boolean;
}

/** An answer, with its model and its cost. The cost is absent while the model's price is unknown. */
export type ModelAnswered = Extract<CallModelResult, { kind: 'answer' }> & { readonly model: string; readonly costUsd?: number };

/** The outcome. `continue-as-new`: the history became too long during a pause, so the turn is repeated in a fresh one. */
export type ModelReply =
  | ModelAnswered
  | Extract<CallModelResult, { kind: 'interrupted' }>
  | { readonly kind: 'failed'; readonly type: string; readonly message: string }
  | { readonly kind: 'continue-as-new' };

const INTERRUPTED: Extract<CallModelResult, { kind: 'interrupted' }> = { kind: 'interrupted', usage: NO_USAGE };

/**
 * Requests an answer to the transcript so far. Retries after lost workers, a moved transcript and a model that is unreachable for a
 * while, and fails over to the other models of the route. Never throws for a failing call.
 */
export async function requestAnswer(run: Run, request: AnswerRequest): Promise<ModelReply> {
  const setbacks = newSetbacks();
  const endsAt = request.final ? Date.now() + RUN_LIMITS.finalCallTimeoutMs : undefined;
  for (;;) {
    if (isStopped(run, request)) return INTERRUPTED;
    const chosen = chooseModel(run, setbacks, request.final === true);
    const delay = delayBefore(run, chosen, request.final ? undefined : setbacks);
    if (delay) await delay;
    const after = delay || 'waitMs' in chosen ? AGAIN : await attempt(run, chosen, { ...request, endsAt, setbacks });
    if (after.kind !== 'again') return after;
    if (request.final) continue;
    // a stop ends a wait, and the next iteration returns
    if (run.floods || (await waitWhilePaused(run)) === 'continue-as-new') return { kind: 'continue-as-new' };
    await applyPendingDirectives(run, setbacks);
  }
}

/**
 * What must come before the call: a wait for a model that is cooling down, or a compaction for a fallback whose context window is smaller.
 * The caller must check for stops and messages after it. Undefined before most calls. `setbacks`: undefined for the final call, whose time
 * limit leaves no time for a compaction.
 */
function delayBefore(run: Run, chosen: ChosenModel | CoolingWait, setbacks: Setbacks | undefined): Promise<void> | undefined {
  if ('waitMs' in chosen) return wait(run, chosen.waitMs, chosen.reason);
  if (!setbacks) return undefined;
  const { candidate } = chosen.pair;
  const { window = candidate.contextWindow } = setbacks;
  setbacks.window = Math.min(window, candidate.contextWindow);
  if (candidate.contextWindow >= window || !run.policy.weighsFallbacks) return undefined;
  return compactWhenNeeded(run, candidate) ?? Promise.resolve();
}

/** Applies `/model` and `/think` between two attempts: a person may switch a run whose models all fail. */
async function applyPendingDirectives(run: Run, setbacks: Setbacks): Promise<void> {
  if (run.inbox.directed.length === 0) return;
  await applyDirectives(run, run.counters.turn);
  setbacks.tried.clear();
}

const AGAIN = { kind: 'again' } as const;

/** One attempt at an answer. */
interface Attempt extends AnswerRequest {
  /** The deadline of the final call, in milliseconds since 1970. */
  readonly endsAt: number | undefined;
  readonly setbacks: Setbacks;
}

/** Calls one model, and recovers from a failure where possible. */
async function attempt(run: Run, chosen: ChosenModel, { setbacks, ...request }: Attempt): Promise<ModelReply | typeof AGAIN> {
  const { pair } = chosen;
  // computed for each attempt, at the price of the chosen model: a lost attempt has used part of the budget
  const outputTokensMax = outputTokens(run, request, setbacks);
  if (outputTokensMax === 'spent') return INTERRUPTED;
  const reply = await callOnce(run, chosen, { ...request, outputTokensMax }, setbacks.workers);
  if (reply.kind === 'answer') return keepAnswer(run, pair, reply);
  if (reply.kind === 'interrupted') return keepPartial(run, pair, reply);
  const { problem } = reply;
  if (problem.type === 'Worker.DiskFull') {
    await waitForRoom(run, problem, queueOf(run, pair.candidate).queue);
    return AGAIN;
  }
  if (isCharged(problem)) {
    chargeLost(run, pair, lostUsage(problem, { inputTokens: run.inputTokensEstimate(), outputTokens: outputTokensMax }));
  }
  const after = await handleFailedCall(run, { pair, problem, setbacks, endsAt: request.endsAt });
  if (after.again) return AGAIN;
  // the server makes no other attempt at a call whose cancel was requested: its first failure is final
  if (run.policy.stopsOutrankFailures && isStopped(run, request)) return INTERRUPTED;
  return { kind: 'failed', type: after.type, message: after.message };
}

type CallReply = CallModelResult | { readonly kind: 'problem'; readonly problem: ActivityProblem };

/** The output limit of the request. It is halved when a provider rejected the sum of request and output limit. */
function outputTokens(run: Run, { final }: AnswerRequest, { lowersOutput }: Setbacks): number | 'spent' {
  const allowed = final ? run.finalOutputTokens() : run.outputTokensAllowed();
  return allowed === 'spent' || !lowersOutput ? allowed : Math.max(MODEL_LIMITS.outputTokensMin, Math.floor(allowed / 2));
}

/** True when the request must not be sent. Only a cancel stops the final call: the deadline and messages do not. */
function isStopped(run: Run, { final }: AnswerRequest): boolean {
  return final ? run.inbox.cancelRequest !== undefined : run.mustStop || run.inbox.interrupting;
}

/** An attempt with its output limit. */
type AttemptInput = Omit<Attempt, 'setbacks'> & { readonly outputTokensMax: number };

/** `losses`: how often a worker was lost with this request. */
async function callOnce(run: Run, chosen: ChosenModel, { endsAt, ...request }: AttemptInput, losses: number): Promise<CallReply> {
  const { prepared, policy } = run;
  const { thinkingTokensMax } = policy;
  const input = {
    runId: run.runId,
    executionId: workflowInfo().runId,
    ...run.transcript.reference(),
    turn: run.counters.turn,
    ...modelOf(run, chosen),
    setupHash: prepared.setupHash,
    // the time of the final call is too short for a wait
    ...(request.final ? {} : { waitsForRoom: true }),
    ...(thinkingTokensMax === undefined ? {} : { thinkingTokensMax }),
    ...request,
  };
  const { candidate } = chosen.pair;
  const summary = summaryOf(run, candidate.model, request) + afterLoss(losses);
  const totalMs = endsAt === undefined ? candidate.times?.totalMs : finalMs(chosen, endsAt - Date.now());
  // the reserved final call has one limit for all: it does not wait longer
  const waitMsMax = candidate.limited && endsAt === undefined ? PROVIDER_LIMITS.waitMsMax : undefined;
  const { heartbeatTimeoutMs } = prepared;
  const placement = queueOf(run, candidate);
  const options = {
    summary,
    heartbeatTimeoutMs,
    isFinal: endsAt !== undefined,
    ...(totalMs === undefined ? {} : { totalMs }),
    ...(waitMsMax === undefined ? {} : { waitMsMax }),
    ...placement,
  };
  try {
    const waits = waitMsMax === undefined ? {} : { waitMsMax };
    const call = (): ReturnType<typeof callModel> => callModel({ ...input, ...waits }, options);
    const reply = await (request.final ? run.calls.abortable(call) : run.calls.interruptible(call));
    if (reply.kind !== 'interrupted' || isStopped(run, request)) return reply;
    return { kind: 'problem', problem: lostAttempt({ usage: reply.usage }) };
  } catch (error) {
    const problem = readActivityProblem(error);
    if (!problem.cancelled) return { kind: 'problem', problem };
    return isStopped(run, request) ? INTERRUPTED : { kind: 'problem', problem: lostAttempt(undefined) };
  }
}

/** The time limit of a final call. With an alternative it is half of the time left, so that the next model gets the rest. */
function finalMs({ hasAlternative }: ChosenModel, leftMs: number): number {
  return Math.max(1, Math.ceil(hasAlternative ? leftMs / 2 : leftMs));
}

/** The model fields of the activity's input. Fields with their default value are left out, which keeps the history small. */
function modelOf(
  { input, prepared, policy, route }: Run,
  { pair, hasAlternative }: ChosenModel,
): Pick<CallModelInput, 'model'> & Partial<CallModelInput> {
  const { candidate } = pair;
  const thinking = route.thinkingOff ? 'off' : candidate.thinking;
  const workspace = input.context?.workspace;
  return {
    model: candidate.model,
    ...keyOf(pair),
    ...(thinking === undefined ? {} : { thinking }),
    ...(policy.thinkingOutput === 'apart' ? {} : { thinkingOutput: policy.thinkingOutput }),
    ...(prepared.cacheKey === undefined ? {} : { cacheKey: prepared.cacheKey }),
    ...(candidate.times === undefined ? {} : { times: candidate.times }),
    ...(isChildProcess(candidate) && workspace !== undefined ? { workspace } : {}),
    // without failover on `Model.Auth`, a shared cooldown must not fail this run before its own attempt
    ...(hasAlternative && policy.fallbackOnAuth ? { hasAlternative } : {}),
  };
}

/** The task queue of a call: a child process runs on the host where it was started, a model call on any worker. */
function queueOf({ prepared: { toolQueue } }: Run, candidate: ModelCandidate): { readonly queue?: string } {
  return isChildProcess(candidate) && toolQueue !== undefined ? { queue: toolQueue } : {};
}

function isChildProcess({ model }: ModelCandidate): boolean {
  return model.startsWith('subprocess/');
}

/** The activity summary. Most compactions have no activity, so the first call after one shows it. */
function summaryOf({ counters, compaction }: Run, model: string, { final }: AnswerRequest): string {
  const isShorter = compaction.count > (compaction.reported?.compactions ?? 0);
  return `${final ? 'final answer' : `turn ${counters.turn}`}: ${model}${isShorter ? ', after compaction' : ''}`;
}

type Answer = Extract<CallModelResult, { kind: 'answer' }>;

function keepAnswer(run: Run, pair: ModelPair, answer: Answer): ModelReply {
  const { candidate } = pair;
  if (answer.lost) chargeLost(run, pair, answer.lost);
  const costUsd = run.spending.chargeAnswer(answer.usage, candidate);
  if (answer.usageEstimated) run.spending.isEstimated = true;
  run.route.cooldowns.answered({ model: candidate.model, credential: pair.credential });
  if (!run.models.includes(candidate.model)) run.models.push(candidate.model);
  run.counters.badJson = run.counters.emptyStreams = run.counters.thinking = 0;
  run.transcript.advance();
  run.transcript.appendReturned(answer.message, answer.hash);
  const tokens = answer.usage.inputTokens + answer.usage.outputTokens;
  run.compaction = { ...run.compaction, reported: { tokens, messages: run.transcript.length, compactions: run.compaction.count } };
  return { ...answer, model: candidate.model, ...(costUsd === undefined ? {} : { costUsd }) };
}

/** Charges usage without an answer, which is always an estimate. */
function chargeLost(run: Run, { candidate }: ModelPair, usage: Usage): void {
  run.spending.charge(usage, candidate);
  run.spending.isEstimated = true;
}

function keepPartial(run: Run, pair: ModelPair, reply: Extract<CallModelResult, { kind: 'interrupted' }>): ModelReply {
  if (reply.usage.inputTokens + reply.usage.outputTokens > 0) chargeLost(run, pair, reply.usage);
  if (reply.partial) run.transcript.appendReturned(reply.partial.message, reply.partial.hash);
  return reply;
}
