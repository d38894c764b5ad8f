import { condition, workflowInfo } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult } from '../../../contracts/activities.js';
import { RUN_LIMITS, SAMPLING_LIMITS } from '../../../contracts/constants/limits.js';
import { EMPTY_CHAIN } from '../../../contracts/digest.js';
import { textOf } from '../../../contracts/message-text.js';
import { addUsage, costOf, NO_USAGE } from '../../../contracts/models/usage.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { Usage } from '../../../contracts/schemas/model.js';
import type { SamplingEnd, SamplingRequest } from '../../../contracts/schemas/sampling.js';
import { CHARS_PER_TOKEN, estimateTokens } from '../../../contracts/text/estimate-tokens.js';
import { cutText } from '../../../contracts/text/redact.js';
import { keyOf, type ModelPair } from '../../policies/model/next-model.js';
import { sideOutputTokens } from '../../policies/stop/budget.js';
import type { Run } from '../../state/run.js';
import { type ActivityProblem, afterLoss, lossShown, lostAttempt, readActivityProblem } from '../../temporal/failures.js';
import { callModel } from '../../temporal/proxies.js';
import { type ChosenModel, chooseModel } from '../../turn/choose-model.js';
import { allFailed, failOver } from '../../turn/fail-over.js';
import { isCharged, lostUsage, newSetbacks, type Setbacks } from '../../turn/setbacks.js';

/** A completion that ended. `spent`: what all its attempts used; empty when no model was called. */
export interface Completion {
  readonly end: SamplingEnd;
  readonly spent: { readonly usage?: Usage; readonly costUsd?: number };
}

/** A requested completion at work. */
interface Sampling {
  readonly request: SamplingRequest;
  readonly messages: readonly Message[];
  readonly inputTokens: number;
  readonly isOver: () => boolean;
  readonly endsAt: number;
  readonly setbacks: Setbacks;
  spent: Completion['spent'];
}

/**
 * Requests a completion for an MCP server from the models of the route, within the budget of the run. The request is no part of the
 * transcript, and sees nothing of it. Retries after lost workers and fails over, without waits. `isOver`: nobody wants the answer any more.
 * Never throws for a failing call.
 */
export async function sampleModel(run: Run, request: SamplingRequest, isOver: () => boolean): Promise<Completion> {
  const messages = request.messages.map(({ role, parts }, index): Message => ({ id: `sampling-${index}`, role, parts: [...parts] }));
  const sampling: Sampling = {
    request,
    messages,
    inputTokens: estimateTokens(messages) + Math.ceil((request.system?.length ?? 0) / CHARS_PER_TOKEN),
    isOver,
    endsAt: Date.now() + SAMPLING_LIMITS.timeoutMs,
    setbacks: newSetbacks(),
    spent: {},
  };
  for (;;) {
    const end = isOver() ? CANCELLED : await attempt(run, sampling);
    if (end !== 'again') return { end, spent: sampling.spent };
  }
}

const CANCELLED = { outcome: 'cancelled', reason: 'the completion is not needed any more' } as const satisfies SamplingEnd;

/** Calls one model, and recovers from a failure where possible. */
async function attempt(run: Run, sampling: Sampling): Promise<SamplingEnd | 'again'> {
  const { requestsPerRunMax } = SAMPLING_LIMITS;
  if ((run.spending.sampled?.requests ?? 0) >= requestsPerRunMax) return refused(`a run answers at most ${requestsPerRunMax} completions`);
  const chosen = chooseModel(run, sampling.setbacks, true);
  if ('waitMs' in chosen) return { outcome: 'failed', reason: chosen.reason };
  const { candidate } = chosen.pair;
  if (isProgram(candidate.model)) return refused(`${candidate.model} is an agent of its own, not a model`);
  const { inputTokens, request } = sampling;
  const outputTokens = sideOutputTokens(run.budget(), { inputTokens, tokensMax: request.tokensMax });
  if (outputTokens === 'spent') return refused('the budget of the run does not allow it');
  const reserved = { ...NO_USAGE, inputTokens, outputTokens };
  const release = run.spending.reserve({
    tokens: inputTokens + outputTokens,
    costUsd: candidate.price ? costOf(reserved, candidate.price) : 0,
  });
  try {
    const reply = await callOnce(run, sampling, { chosen, outputTokens });
    if (reply.kind === 'answer') return keepAnswer(run, sampling, { pair: chosen.pair, answer: reply });
    if (reply.kind === 'interrupted') {
      charge(run, sampling, { pair: chosen.pair, usage: reply.usage });
      return CANCELLED;
    }
    const { problem } = reply;
    if (isCharged(problem)) charge(run, sampling, { pair: chosen.pair, usage: lostUsage(problem, reserved) });
    return await recover(run, sampling, { pair: chosen.pair, problem });
  } finally {
    release();
  }
}

type Reply = CallModelResult | { readonly kind: 'problem'; readonly problem: ActivityProblem };

/** One attempt. */
interface Attempt {
  readonly chosen: ChosenModel;
  readonly outputTokens: number;
}

async function callOnce(run: Run, { isOver, endsAt, setbacks, ...sampling }: Sampling, { chosen, outputTokens }: Attempt): Promise<Reply> {
  const { candidate } = chosen.pair;
  const { server } = sampling.request;
  const leftMs = Math.max(1, endsAt - Date.now());
  const options = {
    summary: `turn ${run.counters.turn}: completion for ${server}: ${candidate.model}${afterLoss(setbacks.workers)}`,
    heartbeatTimeoutMs: run.prepared.heartbeatTimeoutMs,
    isFinal: true,
    // with an alternative, the next model gets the rest
    totalMs: Math.ceil(chosen.hasAlternative ? leftMs / 2 : leftMs),
  };
  const call = run.calls.separate(() => callModel(inputFor(run, sampling, { chosen, outputTokens }), options));
  let isEnded = false;
  const ended = call.ended.finally(() => {
    isEnded = true;
  });
  // it is awaited below
  ended.catch(() => undefined);
  await condition(() => isEnded || isOver());
  if (!isEnded) call.abort();
  try {
    const reply = await ended;
    if (reply.kind !== 'interrupted' || isOver()) return reply;
    return { kind: 'problem', problem: lostAttempt({ usage: reply.usage }) };
  } catch (error) {
    const problem = readActivityProblem(error);
    if (!problem.cancelled) return { kind: 'problem', problem };
    return isOver() ? { kind: 'interrupted', usage: NO_USAGE } : { kind: 'problem', problem: lostAttempt(undefined) };
  }
}

function inputFor(
  run: Run,
  { request, messages }: Pick<Sampling, 'request' | 'messages'>,
  { chosen: { pair, hasAlternative }, outputTokens }: Attempt,
): CallModelInput {
  const { candidate } = pair;
  const { system = '', temperature } = request;
  return {
    runId: run.runId,
    executionId: workflowInfo().runId,
    // no part of the transcript
    base: EMPTY_CHAIN,
    tail: [],
    digest: EMPTY_CHAIN.digest,
    turn: run.counters.turn,
    model: candidate.model,
    ...keyOf(pair),
    // the limit of a server is small, and thinking would use it up
    ...(candidate.thinking === undefined ? {} : { thinking: 'off' as const }),
    ...(candidate.times === undefined ? {} : { times: candidate.times }),
    ...(hasAlternative && run.policy.fallbackOnAuth ? { hasAlternative } : {}),
    setupHash: run.prepared.setupHash,
    requestOnly: messages,
    toolChoice: 'none',
    outputTokensMax: outputTokens,
    sampling: { system, ...(temperature === undefined ? {} : { temperature }) },
  };
}

/** Executors keep the state of a run, and take no other conversation. */
function isProgram(model: string): boolean {
  return model.startsWith('subprocess/') || model.startsWith('stub/');
}

function refused(reason: string): SamplingEnd {
  return { outcome: 'refused', reason };
}

interface Answered {
  readonly pair: ModelPair;
  readonly answer: Extract<CallModelResult, { kind: 'answer' }>;
}

function keepAnswer(run: Run, sampling: Sampling, { pair, answer }: Answered): SamplingEnd {
  const { model } = pair.candidate;
  if (answer.lost) charge(run, sampling, { pair, usage: answer.lost });
  charge(run, sampling, { pair, usage: answer.usage, answered: true });
  if (answer.usageEstimated) run.spending.isEstimated = true;
  run.route.cooldowns.answered({ model, credential: pair.credential });
  if (!run.models.includes(model)) run.models.push(model);
  if (answer.stop === 'refusal') return refused('the model refused to answer');
  const text = cutText(textOf(answer.message), SAMPLING_LIMITS.answerBytesMax);
  return { outcome: 'answered', text, model, stop: answer.stop === 'length' ? 'length' : 'end' };
}

interface Charge {
  readonly pair: ModelPair;
  readonly usage: Usage;
  /** @default false: usage without an answer, which is an estimate */
  readonly answered?: boolean;
}

function charge(run: Run, sampling: Sampling, { pair: { candidate }, usage, answered = false }: Charge): void {
  if (!answered && usage.inputTokens + usage.outputTokens === 0) return;
  const costUsd = run.spending.chargeSampling(usage, candidate, { answered });
  if (!answered) run.spending.isEstimated = true;
  const { spent } = sampling;
  sampling.spent = {
    usage: addUsage(spent.usage ?? NO_USAGE, usage),
    ...(costUsd === undefined ? {} : { costUsd: (spent.costUsd ?? 0) + costUsd }),
  };
}

async function recover(
  run: Run,
  { setbacks, endsAt }: Sampling,
  { pair, problem }: { readonly pair: ModelPair; readonly problem: ActivityProblem },
): Promise<SamplingEnd | 'again'> {
  const { turn } = run.counters;
  const { type, message } = problem;
  if (problem.workerLost) {
    setbacks.workers += 1;
    run.events.add({ type: 'worker.lost', turn, activity: 'callModel', losses: setbacks.workers, ...lossShown(problem) });
    if (setbacks.workers <= RUN_LIMITS.workerLossesMax) return 'again';
  } else {
    run.events.add({ type: 'model.failed', turn, model: pair.candidate.model, failure: type, message: message.slice(0, 500) });
    if ((await failOver(run, { pair, problem, setbacks, endsAt })) === 'again') return 'again';
  }
  const { type: failure, message: text } = allFailed(setbacks) ?? problem;
  return { outcome: 'failed', reason: `${failure}: ${text}` };
}
