import { workflowInfo } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult } from '../../contracts/activities.js';
import { MODEL_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { ToolChoice, Usage } from '../../contracts/schemas/model.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import { mayGoOn } from '../operator/pause-and-hold.js';
import { publishStatus } from '../operator/progress.js';
import { keyOf, type ModelPair } from '../policies/model/next-model.js';
import type { Run } from '../state/run.js';
import { usageIn } from '../state/spending.js';
import { type ActivityProblem, lostAttempt, readActivityProblem } from '../temporal/failures.js';
import { callModel } from '../temporal/proxies.js';
import { type ChosenModel, chooseModel } from './choose-model.js';
import { compactWhenNeeded } from './compact-transcript.js';
import { followDirectives } from './deliver-messages.js';
import { mayAskAgain } from './retry-model.js';
import { newSetbacks, type Setbacks } from './setbacks.js';

/** One request to the model. */
export interface ModelQuestion {
  readonly requestOnly: readonly Message[];
  readonly toolChoice: ToolChoice;
  /** The reserved final call: has its own time limit, and is not a turn. */
  readonly final?: boolean;
}

/** An answer, with who gave it and what it cost; the cost is absent while the model's price is unknown. */
export type ModelAnswered = Extract<CallModelResult, { kind: 'answer' }> & { readonly model: string; readonly costUsd?: number };

/** What came of it. `continue-as-new`: a pause between two tries became so long that the turn is opened anew in a fresh history. */
export type ModelReply =
  | ModelAnswered
  | Extract<CallModelResult, { kind: 'interrupted' }>
  | { readonly kind: 'failed'; readonly type: string; readonly message: string }
  | { readonly kind: 'continue-as-new' };

const INTERRUPTED: Extract<CallModelResult, { kind: 'interrupted' }> = { kind: 'interrupted', usage: NO_USAGE };

/**
 * Asks the model with the transcript so far and survives what is not the model's answer: lost workers, a transcript that moved, a
 * model that cannot be reached for a while. Never throws for a failing call.
 */
export async function askModel(run: Run, question: ModelQuestion): Promise<ModelReply> {
  const setbacks = newSetbacks();
  const endsAt = question.final ? Date.now() + RUN_LIMITS.finalCallTimeoutMs : undefined;
  for (;;) {
    if (isStopped(run, question)) return INTERRUPTED;
    const chosen = await chooseModel(run, setbacks, question.final === true);
    // the final call has no time for a compaction
    const isAsked = chosen && (question.final || !(await makesRoomFor(run, chosen, setbacks)));
    const after = isAsked ? await ask(run, chosen, { ...question, endsAt, setbacks }) : AGAIN;
    if (after.kind !== 'again') return after;
    if (question.final) continue;
    // a stop ends a wait, and the loop then sees it
    if ((await mayGoOn(run)) === 'continue-as-new') return { kind: 'continue-as-new' };
    await heedDirectives(run, setbacks);
  }
}

/** A fallback may read less than the model that the turn was prepared for. True when time passed: something may have happened meanwhile. */
async function makesRoomFor(run: Run, { pair: { candidate } }: ChosenModel, setbacks: Setbacks): Promise<boolean> {
  const { window = candidate.contextWindow } = setbacks;
  setbacks.window = Math.min(window, candidate.contextWindow);
  if (candidate.contextWindow >= window || !run.policy.weighsFallbacks) return false;
  await compactWhenNeeded(run, candidate);
  return true;
}

/** A person who sees that a run gets no answer may name a model that gives one. */
async function heedDirectives(run: Run, setbacks: Setbacks): Promise<void> {
  if (run.inbox.directed.length === 0) return;
  await followDirectives(run, run.counters.turn);
  setbacks.tried.clear();
}

const AGAIN = { kind: 'again' } as const;

/** One try of a question. */
interface Try extends ModelQuestion {
  /** Of the final call: when it must have ended. */
  readonly endsAt: number | undefined;
  readonly setbacks: Setbacks;
}

/** Asks one model, and does what can be done when it fails. */
async function ask(run: Run, chosen: ChosenModel, { setbacks, ...question }: Try): Promise<ModelReply | typeof AGAIN> {
  const { pair } = chosen;
  // asked before each try, with the price of the model that was chosen: what a lost one used is gone
  const outputTokensMax = outputTokens(run, question, setbacks);
  if (outputTokensMax === 'spent') return INTERRUPTED;
  const reply = await oneCall(run, chosen, { ...question, outputTokensMax });
  if (reply.kind === 'answer') return keepAnswer(run, pair, reply);
  if (reply.kind === 'interrupted') return keepPartial(run, pair, reply);
  const { problem } = reply;
  if (isCharged(problem)) chargeLost(run, pair, lostUsage(run, outputTokensMax, problem));
  const after = await mayAskAgain(run, { pair, problem, setbacks, endsAt: question.endsAt });
  return after.again ? AGAIN : { kind: 'failed', type: after.type, message: after.message };
}

type CallReply = CallModelResult | { readonly kind: 'problem'; readonly problem: ActivityProblem };

/** A request may be too long only because of the answer it leaves room for: then half of that must do. */
function outputTokens(run: Run, { final }: ModelQuestion, { lowersOutput }: Setbacks): number | 'spent' {
  const allowed = final ? run.finalOutputTokens() : run.outputTokensAllowed();
  return allowed === 'spent' || !lowersOutput ? allowed : Math.max(MODEL_LIMITS.outputTokensMin, Math.floor(allowed / 2));
}

/** The deadline's own final call is not stopped by the deadline, nor by a message. */
function isStopped(run: Run, { final }: ModelQuestion): boolean {
  return final ? run.inbox.cancelRequest !== undefined : run.mustStop || run.inbox.interrupting;
}

/** A try, and how long its answer may be. */
type Request = Omit<Try, 'setbacks'> & { readonly outputTokensMax: number };

async function oneCall(run: Run, chosen: ChosenModel, { endsAt, ...question }: Request): Promise<CallReply> {
  const { prepared, policy } = run;
  const { thinkingTokensMax } = policy;
  const input = {
    runId: run.runId,
    executionId: workflowInfo().runId,
    ...run.transcript.reference(),
    turn: run.counters.turn,
    ...modelOf(run, chosen),
    setupHash: prepared.setupHash,
    ...(thinkingTokensMax === undefined ? {} : { thinkingTokensMax }),
    ...question,
  };
  const { candidate } = chosen.pair;
  const summary = summaryOf(run, candidate.model, question);
  const totalMs = endsAt === undefined ? candidate.times?.totalMs : finalMs(chosen, endsAt - Date.now());
  const options = { summary, isFinal: endsAt !== undefined, ...(totalMs === undefined ? {} : { totalMs }), ...placeOf(run, candidate) };
  try {
    const call = (): ReturnType<typeof callModel> => callModel(input, options);
    const reply = await (question.final ? run.calls.abortable(call) : run.calls.interruptible(call));
    if (reply.kind !== 'interrupted' || isStopped(run, question)) return reply;
    return { kind: 'problem', problem: lostAttempt({ usage: reply.usage }) };
  } catch (error) {
    const problem = readActivityProblem(error);
    if (!problem.cancelled) return { kind: 'problem', problem };
    return isStopped(run, question) ? INTERRUPTED : { kind: 'problem', problem: lostAttempt(undefined) };
  }
}

/** How long a final call may take: a model that is silent leaves half of the time to the next one. */
function finalMs({ hasAlternative }: ChosenModel, leftMs: number): number {
  return Math.max(1, Math.ceil(hasAlternative ? leftMs / 2 : leftMs));
}

/** Whom the activity asks, and how. What is not said is as it always was: most calls have no more than a name. */
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
    // where a refused key leads to no other model, what another run said of it must not end this one unasked
    ...(hasAlternative && policy.fallbackOnAuth ? { hasAlternative } : {}),
  };
}

/** A child process lives on the host where it was started; any worker can ask a model. */
function placeOf({ prepared: { toolQueue } }: Run, candidate: ModelCandidate): { readonly queue?: string } {
  return isChildProcess(candidate) && toolQueue !== undefined ? { queue: toolQueue } : {};
}

function isChildProcess({ model }: ModelCandidate): boolean {
  return model.startsWith('subprocess/');
}

/** What operators read of the call. A compaction needs no activity of its own, so it shows at the first call that profits from it. */
function summaryOf({ counters, compaction }: Run, model: string, { final }: ModelQuestion): string {
  const isShorter = compaction.count > (compaction.reported?.compactions ?? 0);
  return `${final ? 'final answer' : `turn ${counters.turn}`}: ${model}${isShorter ? ', after compaction' : ''}`;
}

/** An attempt that was lost, or that says what it used, has used it; one that the provider refused has not. */
function isCharged({ workerLost, type, lastHeartbeat }: ActivityProblem): boolean {
  return workerLost || type === 'Model.ThinkingBudget' || usageIn(lastHeartbeat) !== undefined;
}

/** A lost attempt is charged from its last heartbeat, else what was set aside for it. */
function lostUsage(run: Run, outputTokensMax: number, { lastHeartbeat }: ActivityProblem): Usage {
  const unreported = { ...NO_USAGE, inputTokens: run.inputTokensEstimate(), outputTokens: outputTokensMax };
  return usageIn(lastHeartbeat) ?? unreported;
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
  publishStatus(run);
  return { ...answer, model: candidate.model, ...(costUsd === undefined ? {} : { costUsd }) };
}

/** What was used without an answer is known only as the attempt estimated it. */
function chargeLost(run: Run, { candidate }: ModelPair, usage: Usage): void {
  run.spending.charge(usage, candidate);
  run.spending.isEstimated = true;
}

function keepPartial(run: Run, pair: ModelPair, reply: Extract<CallModelResult, { kind: 'interrupted' }>): ModelReply {
  if (reply.usage.inputTokens + reply.usage.outputTokens > 0) chargeLost(run, pair, reply.usage);
  if (reply.partial) run.transcript.appendReturned(reply.partial.message, reply.partial.hash);
  return reply;
}
