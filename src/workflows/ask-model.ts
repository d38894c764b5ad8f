import { workflowInfo } from '@temporalio/workflow';
import type { CallModelResult } from '../contracts/activities.js';
import { isUsage } from '../contracts/is-usage.js';
import { MODEL_LIMITS, RUN_LIMITS } from '../contracts/limits.js';
import type { Message } from '../contracts/message.js';
import type { ToolChoice, Usage } from '../contracts/model.js';
import { NO_USAGE } from '../contracts/no-usage.js';
import { type ActivityProblem, lostAttempt, readActivityProblem } from './failures.js';
import { mayAskAgain, newSetbacks, type Setbacks } from './may-ask-again.js';
import { mayGoOn } from './may-go-on.js';
import { publishStatus } from './progress.js';
import { callModel } from './proxies.js';
import type { Run } from './run.js';

/** One request to the model. */
export interface ModelQuestion {
  readonly requestOnly: readonly Message[];
  readonly toolChoice: ToolChoice;
  /** The reserved final call: has its own time limit, and is not a turn. */
  readonly final?: boolean;
}

/** What came of it. `continue-as-new`: a pause between two tries became so long that the turn is opened anew in a fresh history. */
export type ModelReply =
  | CallModelResult
  | { readonly kind: 'failed'; readonly type: string; readonly message: string }
  | { readonly kind: 'continue-as-new' };

const INTERRUPTED: CallModelResult = { kind: 'interrupted', usage: NO_USAGE };

/**
 * Asks the model with the transcript so far and survives what is not the model's answer: lost workers, a transcript that moved, a
 * model that cannot be reached for a while. Never throws for a failing call.
 */
export async function askModel(run: Run, question: ModelQuestion): Promise<ModelReply> {
  const setbacks = newSetbacks();
  const endsAt = question.final ? Date.now() + RUN_LIMITS.finalCallTimeoutMs : undefined;
  for (;;) {
    // asked before each try: what a lost one used is gone
    const outputTokensMax = outputTokens(run, question, setbacks);
    if (outputTokensMax === 'spent' || isStopped(run, question)) return INTERRUPTED;
    const reply = await oneCall(run, { ...question, outputTokensMax }, endsAt);
    if (reply.kind === 'answer') return keepAnswer(run, reply);
    if (reply.kind === 'interrupted') return keepPartial(run, reply);
    const { type, message } = reply.problem;
    if (isCharged(reply.problem)) run.spending.charge(lostUsage(run, outputTokensMax, reply.problem));
    if (!(await mayAskAgain(run, { problem: reply.problem, setbacks, final: question.final === true })))
      return { kind: 'failed', type, message };
    // a stop ends the wait, and the loop then sees it
    if (!question.final && (await mayGoOn(run)) === 'continue-as-new') return { kind: 'continue-as-new' };
  }
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

async function oneCall(
  run: Run,
  question: ModelQuestion & { readonly outputTokensMax: number },
  endsAt: number | undefined,
): Promise<CallReply> {
  const { prepared, policy } = run;
  const { thinkingTokensMax } = policy;
  const input = {
    runId: run.runId,
    executionId: workflowInfo().runId,
    ...run.transcript.reference(),
    turn: run.counters.turn,
    model: prepared.model,
    setupHash: prepared.setupHash,
    ...(thinkingTokensMax === undefined ? {} : { thinkingTokensMax }),
    ...question,
  };
  const summary = summaryOf(run, question);
  const totalMs = endsAt === undefined ? {} : { totalMs: Math.max(1, endsAt - Date.now()) };
  try {
    const call = (): ReturnType<typeof callModel> => callModel(input, { summary, ...totalMs });
    const reply = await (question.final ? run.calls.abortable(call) : run.calls.interruptible(call));
    if (reply.kind !== 'interrupted' || isStopped(run, question)) return reply;
    return { kind: 'problem', problem: lostAttempt({ usage: reply.usage }) };
  } catch (error) {
    const problem = readActivityProblem(error);
    if (!problem.cancelled) return { kind: 'problem', problem };
    return isStopped(run, question) ? INTERRUPTED : { kind: 'problem', problem: lostAttempt(undefined) };
  }
}

/** What operators read of the call. A compaction needs no activity of its own, so it shows at the first call that profits from it. */
function summaryOf({ counters, prepared, compaction }: Run, { final }: ModelQuestion): string {
  const isShorter = compaction.count > (compaction.reported?.compactions ?? 0);
  return `${final ? 'final answer' : `turn ${counters.turn}`}: ${prepared.model}${isShorter ? ', after compaction' : ''}`;
}

/** An attempt that was lost, or that says what it used, has used it; one that the provider refused has not. */
function isCharged({ workerLost, type, lastHeartbeat }: ActivityProblem): boolean {
  return workerLost || type === 'Model.ThinkingBudget' || reportedUsage(lastHeartbeat) !== undefined;
}

function reportedUsage(details: unknown): Usage | undefined {
  return details !== null && typeof details === 'object' && 'usage' in details && isUsage(details.usage) ? details.usage : undefined;
}

/** A lost attempt is charged from its last heartbeat, else what was set aside for it. */
function lostUsage(run: Run, outputTokensMax: number, { lastHeartbeat }: ActivityProblem): Usage {
  const unreported = { ...NO_USAGE, inputTokens: run.inputTokensEstimate(), outputTokens: outputTokensMax };
  return reportedUsage(lastHeartbeat) ?? unreported;
}

function keepAnswer(run: Run, answer: Extract<CallModelResult, { kind: 'answer' }>): CallModelResult {
  if (answer.lost) run.spending.charge(answer.lost);
  run.spending.charge(answer.usage);
  run.spending.lastUsage = answer.usage;
  if (!run.models.includes(run.prepared.model)) run.models.push(run.prepared.model);
  run.counters.badJson = run.counters.emptyStreams = run.counters.thinking = 0;
  run.transcript.advance();
  run.transcript.appendReturned(answer.message, answer.hash);
  const tokens = answer.usage.inputTokens + answer.usage.outputTokens;
  run.compaction = { ...run.compaction, reported: { tokens, messages: run.transcript.length, compactions: run.compaction.count } };
  publishStatus(run);
  return answer;
}

function keepPartial(run: Run, reply: Extract<CallModelResult, { kind: 'interrupted' }>): CallModelResult {
  run.spending.charge(reply.usage);
  if (reply.partial) run.transcript.appendReturned(reply.partial.message, reply.partial.hash);
  return reply;
}
