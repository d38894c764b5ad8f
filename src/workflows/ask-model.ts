import { workflowInfo } from '@temporalio/workflow';
import type { CallModelResult } from '../contracts/activities.js';
import { isModelUnreachable } from '../contracts/failures.js';
import { RUN_LIMITS } from '../contracts/limits.js';
import type { Message } from '../contracts/message.js';
import { NO_USAGE, type ToolChoice, Usage } from '../contracts/model.js';
import { type ActivityProblem, readActivityProblem } from './failures.js';
import { unreachableBackoffMs } from './policies/unreachable-backoff.js';
import { publishStatus } from './progress.js';
import { callModel } from './proxies.js';
import type { Run } from './run.js';

/** One request to the model. */
export interface ModelQuestion {
  readonly requestOnly: readonly Message[];
  readonly toolChoice: ToolChoice;
  readonly outputTokensMax: number;
  /** The reserved final call: has its own time limit, and is not a turn. */
  readonly final?: boolean;
}

/** What came of it. */
export type ModelReply = CallModelResult | { readonly kind: 'failed'; readonly type: string; readonly message: string };

/**
 * Asks the model with the transcript so far and survives what is not the model's answer: lost workers, a transcript that moved, a
 * model that cannot be reached for a while. Never throws for a failing call.
 */
export async function askModel(run: Run, question: ModelQuestion): Promise<ModelReply> {
  const losses = { workers: 0, references: 0, unreachable: 0, unreachableSince: Date.now() };
  for (;;) {
    if (run.inbox.cancelRequest || (run.deadlineReached && !question.final)) return { kind: 'interrupted', usage: NO_USAGE };
    const reply = await oneCall(run, question);
    if (reply.kind === 'answer') return keepAnswer(run, reply);
    if (reply.kind === 'interrupted') return keepPartial(run, reply);
    if (!(await mayAskAgain(run, reply.problem, losses)))
      return { kind: 'failed', type: reply.problem.type, message: reply.problem.message };
  }
}

type CallReply = CallModelResult | { readonly kind: 'problem'; readonly problem: ActivityProblem };

async function oneCall(run: Run, question: ModelQuestion): Promise<CallReply> {
  const { prepared } = run;
  const input = {
    runId: run.runId,
    executionId: workflowInfo().runId,
    ...run.transcript.reference(),
    turn: run.counters.turn,
    model: prepared.model,
    setupHash: prepared.setupHash,
    ...question,
  };
  const summary = question.final ? `final answer: ${prepared.model}` : `turn ${run.counters.turn}: ${prepared.model}`;
  const timeout = question.final ? { timeoutMs: RUN_LIMITS.finalCallTimeoutMs } : {};
  try {
    return await run.abortable(() => callModel(input, { summary, ...timeout }));
  } catch (error) {
    const problem = readActivityProblem(error);
    return problem.cancelled ? { kind: 'interrupted', usage: NO_USAGE } : { kind: 'problem', problem };
  }
}

async function mayAskAgain(
  run: Run,
  problem: ActivityProblem,
  losses: { workers: number; references: number; unreachable: number; unreachableSince: number },
): Promise<boolean> {
  const { turn } = run.counters;
  if (problem.workerLost) {
    losses.workers += 1;
    run.charge(lostUsage(problem));
    run.events.add({ type: 'worker.lost', turn, activity: 'callModel', losses: losses.workers });
    return losses.workers <= RUN_LIMITS.workerLossesMax;
  }
  run.events.add({ type: 'model.failed', turn, failure: problem.type, message: problem.message.slice(0, 500) });
  if (problem.type === 'Transcript.Moved') {
    losses.references += 1;
    run.transcript.startFresh();
    return losses.references <= RUN_LIMITS.transcriptMovedMax;
  }
  if (!isModelUnreachable(problem.type)) return false;
  losses.unreachable += 1;
  const backoffMs = unreachableBackoffMs(losses.unreachable, Date.now() - losses.unreachableSince);
  if (backoffMs === undefined) return false;
  await run.wait(backoffMs, `model unreachable, attempt ${losses.unreachable}`);
  return true;
}

/** A lost attempt is charged from its last heartbeat. */
function lostUsage(problem: ActivityProblem): Usage {
  const details = problem.lastHeartbeat;
  const reported = details !== null && typeof details === 'object' && 'usage' in details ? Usage.safeParse(details.usage) : undefined;
  return reported?.success ? reported.data : NO_USAGE;
}

function keepAnswer(run: Run, answer: Extract<CallModelResult, { kind: 'answer' }>): CallModelResult {
  run.charge(answer.usage);
  run.lastUsage = answer.usage;
  if (!run.models.includes(run.prepared.model)) run.models.push(run.prepared.model);
  run.transcript.advance();
  run.transcript.appendReturned(answer.message, answer.hash);
  publishStatus(run);
  return answer;
}

function keepPartial(run: Run, reply: Extract<CallModelResult, { kind: 'interrupted' }>): CallModelResult {
  run.charge(reply.usage);
  if (reply.partial) run.transcript.appendReturned(reply.partial.message, reply.partial.hash);
  return reply;
}
