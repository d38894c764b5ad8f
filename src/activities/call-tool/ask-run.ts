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
    const ended = await exchange<QuestionAnswer>(
      {
        signal: ASK_SIGNAL,
        request: { call: callId, question: { callId: questionId, ...question } } satisfies AskSignal,
        withdrawal: { call: callId, withdrawn: questionId } satisfies AskSignal,
        query: QUESTION_QUERY,
        question: { callId: questionId },
        pollMsMin: ELICITATION_LIMITS.pollMsMin,
        pollMsMax: ELICITATION_LIMITS.pollMsMax,
      },
      asker,
    );
    return ended ?? { outcome: 'cancelled', reason: 'the run did not take the question' };
  };
}

/** Lets a call request completions of its run. */
export function createRequestCompletion({ callId }: Pick<CallToolInput, 'callId'>, exchange: RunExchange): RequestCompletion {
  return async ({ id, ...request }, asker) => {
    const requestId = `${callId}.${id}`;
    const ended = await exchange<SamplingEnd>(
      {
        signal: SAMPLE_SIGNAL,
        request: { call: callId, request: { id: requestId, ...request } } satisfies SampleSignal,
        withdrawal: { call: callId, withdrawn: requestId } satisfies SampleSignal,
        query: SAMPLING_QUERY,
        question: { id: requestId },
        pollMsMin: SAMPLING_LIMITS.pollMsMin,
        pollMsMax: SAMPLING_LIMITS.pollMsMax,
      },
      asker,
    );
    return ended ?? { outcome: 'refused', reason: 'the run did not take the request' };
  };
}
