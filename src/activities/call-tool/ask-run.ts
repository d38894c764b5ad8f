import type { CallToolInput } from '../../contracts/activities.js';
import { ELICITATION_LIMITS, SAMPLING_LIMITS } from '../../contracts/constants/limits.js';
import type { AskSignal } from '../../contracts/schemas/question.js';
import type { SampleSignal, SamplingEnd } from '../../contracts/schemas/sampling.js';
import { ASK_SIGNAL, QUESTION_QUERY, SAMPLE_SIGNAL, SAMPLING_QUERY } from '../../contracts/text/ids.js';
import type { Ask, QuestionAnswer, RequestCompletion } from '../mcp/asking-context.js';
import type { RunExchange } from './run-exchange.js';

/** Lets a call ask the person of its run. */
export function createAsk({ callId }: Pick<CallToolInput, 'callId'>, exchange: RunExchange): Ask {
  return async ({ id, ...question }, asker) => {
    const questionId = `${callId}.${id}`;
    const asked = { signal: ASK_SIGNAL, query: QUESTION_QUERY, question: { callId: questionId }, pace: ELICITATION_LIMITS };
    const request = { call: callId, question: { callId: questionId, ...question } } satisfies AskSignal;
    const withdrawal = { call: callId, withdrawn: questionId } satisfies AskSignal;
    const ended = await exchange<QuestionAnswer>({ ...asked, request, withdrawal }, asker);
    return ended ?? { outcome: 'cancelled', reason: 'the run did not take the question' };
  };
}

/** Lets a call request completions of its run. */
export function createRequestCompletion({ callId }: Pick<CallToolInput, 'callId'>, exchange: RunExchange): RequestCompletion {
  return async ({ id, ...completion }, asker) => {
    const requestId = `${callId}.${id}`;
    const request = { call: callId, request: { id: requestId, ...completion } } satisfies SampleSignal;
    const withdrawal = { call: callId, withdrawn: requestId } satisfies SampleSignal;
    const ended = await exchange<SamplingEnd>(
      { signal: SAMPLE_SIGNAL, request, withdrawal, query: SAMPLING_QUERY, question: { id: requestId }, pace: SAMPLING_LIMITS },
      asker,
    );
    return ended ?? { outcome: 'refused', reason: 'the run did not take the request' };
  };
}
