import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import type { CallToolInput } from '../../contracts/activities.js';
import { CLIENT_LIMITS, ELICITATION_LIMITS } from '../../contracts/constants/limits.js';
import type { AskSignal, QuestionState } from '../../contracts/schemas/question.js';
import { ASK_SIGNAL, QUESTION_QUERY } from '../../contracts/text/ids.js';
import type { Ask, CallQuestion, QuestionAnswer } from '../mcp/asking-context.js';
import type { CallSignal } from '../runtime/call-signal.js';

/**
 * Lets a call ask the person of its run: the question is a signal to the run, which keeps it through the death of this worker, and its end
 * is found by a query. The time limit of the call stands still until then.
 */
export function createAsk(context: Pick<Context, 'client' | 'info'>, { callId }: CallToolInput, limit: CallSignal): Ask {
  // an activity of a run belongs to a workflow
  const { workflowId, runId } = context.info.workflowExecution ?? { workflowId: '', runId: '' };
  const { client } = context;
  const run = client.workflow.getHandle(workflowId, runId);
  // each look ends before the query can leave the sticky queue of a lost worker
  const look = (question: { readonly callId: string }): Promise<QuestionState> =>
    client.withDeadline(Date.now() + CLIENT_LIMITS.queryTimeoutMs, () => run.query<QuestionState, [object]>(QUESTION_QUERY, question));
  return async ({ id, ...question }: CallQuestion, asker) => {
    const signal = AbortSignal.any([limit.signal, asker.signal]);
    const questionId = `${callId}.${id}`;
    const resume = limit.hold();
    try {
      await run.signal<[AskSignal]>(ASK_SIGNAL, { call: callId, question: { callId: questionId, ...question } });
      return await untilEnded(() => look({ callId: questionId }), signal);
    } catch (error) {
      // the server no longer waits for it; after the end of the call, the run ends its questions itself
      const isWithdrawn = asker.signal.aborted && !asker.isLost() && !limit.signal.aborted;
      if (isWithdrawn) await run.signal<[AskSignal]>(ASK_SIGNAL, { call: callId, withdrawn: questionId });
      throw error;
    } finally {
      resume();
    }
  };
}

/** Asks for the end of a question until it has come. A query that fails is repeated: its worker, or the server, may be restarting. */
async function untilEnded(query: () => Promise<QuestionState>, signal: AbortSignal): Promise<QuestionAnswer> {
  const { pollMsMin, pollMsMax } = ELICITATION_LIMITS;
  let unknownTimes = 0;
  for (let waitMs: number = pollMsMin; ; waitMs = Math.min(waitMs * 2, pollMsMax)) {
    signal.throwIfAborted();
    const state = await query().catch(() => undefined);
    if (state?.ended) return state.ended;
    // the run does not have it: it ends, or another message of this name came first
    if (state?.isPending === false) unknownTimes += 1;
    if (unknownTimes > ELICITATION_LIMITS.unknownMax) return { outcome: 'cancelled', reason: 'the run did not take the question' };
    await delay(waitMs, undefined, { signal });
  }
}
