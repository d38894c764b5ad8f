import { condition } from '@temporalio/workflow';
import { PAYLOAD_LIMITS } from '../../../contracts/constants/limits.js';
import type { ToolCallPart } from '../../../contracts/schemas/message.js';
import { publishAttributes } from '../../operator/progress.js';
import { publishPending } from '../../operator/request-approval.js';
import { endQuestion, expireQuestions, questionLine } from '../../operator/settle-question.js';
import { resumeClock, whileWaiting } from '../../operator/wait.js';
import type { Run } from '../../state/run.js';

/**
 * Follows a call that may ask the person of the run while it works: shows what it waits for, and stops the work clock. A cancel, the deadline
 * and a message with mode `preempt` or `interrupt` end its questions, so that the call can end. Resolves and rejects as `work` does.
 */
export async function followQuestions<T>(run: Run, { callId, name }: Pick<ToolCallPart, 'callId' | 'name'>, work: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  // it is awaited below, after the waits
  ended.catch(() => undefined);
  run.questions.listenTo(callId);
  for (;;) {
    await condition(() => isDone || run.questions.pendingOf(callId).length > 0);
    if (isDone) return await ended;
    await waitForAnswer(run, { callId, server: name.slice(0, name.indexOf('_')), isDone: () => isDone });
  }
}

/** Ends what a call still asks, once it has its result. */
export function endCallQuestions(run: Run, callId: string): void {
  run.questions.stopListening(callId);
  for (const question of run.questions.pendingOf(callId)) endCallQuestion(run, question.callId, 'the call ended');
  publishPending(run);
}

/** Ends a question of a call without an answer. Handlers call it too: no command, no await. */
export function endCallQuestion(run: Run, callId: string, reason: string): void {
  endQuestion(run, callId, { outcome: 'cancelled', by: 'the run', reason });
}

interface AnswerWait {
  readonly callId: string;
  readonly server: string;
  readonly isDone: () => boolean;
}

/** Waits until the call has no pending question any more, or has ended. */
async function waitForAnswer(run: Run, { callId, server, isDone }: AnswerWait): Promise<void> {
  const [first] = run.questions.pendingOf(callId);
  const reason = `an answer to ${server}'s question: ${first ? questionLine(first) : ''}`;
  const summary = `waiting for ${reason}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax);
  const { questions } = run;
  const isAwake = (): boolean =>
    isDone() || questions.pendingOf(callId).length === 0 || questions.pendingCount !== questions.publishedCount || isUnwanted(run);
  publishPending(run);
  run.clock.stop();
  await whileWaiting(run, reason, async () => {
    publishAttributes(run, { AgentStatus: run.status });
    while (!isDone() && run.questions.pendingOf(callId).length > 0) {
      await condition(isAwake, untilExpiry(run), { summary });
      if (isUnwanted(run)) endUnwanted(run, callId);
      expireQuestions(run);
      publishPending(run);
    }
  });
  publishPending(run);
  resumeClock(run);
  publishAttributes(run, { AgentStatus: run.status });
}

/** True when the run wants the call to end: a stop, or a message that skips calls. */
function isUnwanted(run: Run): boolean {
  return run.mustStop || run.inbox.preempting;
}

function endUnwanted(run: Run, callId: string): void {
  const reason = run.mustStop ? 'the run stops' : 'a new message came';
  for (const question of run.questions.pendingOf(callId)) endCallQuestion(run, question.callId, reason);
}

/** The time until the next question expires. A pending question has an expiry. */
function untilExpiry({ questions }: Run): number {
  return Math.max(1, (questions.nextExpiry ?? 0) - Date.now());
}
