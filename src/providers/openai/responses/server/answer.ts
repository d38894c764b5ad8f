import type { Usage } from '../../../../contracts/schemas/model.js';
import type { WireEvent } from '../../../format/format-server.js';
import { answerPieces } from '../../../scripted/script-pieces.js';
import { ResponsesEvents, responsesEvent } from './events.js';
import { type OutputItem, outputItems, type ResponsesAnswer } from './output.js';

/** The events of a streamed answer, `response.completed` or `response.incomplete` included, numbered from nought. */
export function responsesEvents(wire: ResponsesAnswer): WireEvent[] {
  const output = outputItems(wire);
  const items = new ResponsesEvents(output);
  const inProgress = { response: responseObject(wire, 'in_progress', []) };
  const end = endOf(wire);
  const events = [
    { kind: 'start', type: 'response.created', fields: inProgress } as const,
    { kind: 'start', type: 'response.in_progress', fields: inProgress } as const,
    ...answerPieces(wire.answer).flatMap((piece) => items.eventsOf(piece)),
    { kind: 'done', type: `response.${end}`, fields: { response: responseObject(wire, end, output) } } as const,
  ];
  return events.map(({ kind, type, fields }, number) => ({ kind, text: responsesEvent(type, fields, number) }));
}

/** The whole answer as one document. */
export function responsesDocument(wire: ResponsesAnswer): unknown {
  return responseObject(wire, endOf(wire), outputItems(wire));
}

/** The API knows no paused answer, and a refusal is what its model says; one without a word is a filter's. */
function endOf({ answer }: ResponsesAnswer): 'completed' | 'incomplete' {
  return answer.stop === 'length' || isFiltered(answer) ? 'incomplete' : 'completed';
}

function isFiltered({ stop, text }: ResponsesAnswer['answer']): boolean {
  return stop === 'refusal' && text === '';
}

function responseObject(
  { id, request, answer }: ResponsesAnswer,
  status: 'in_progress' | 'completed' | 'incomplete',
  output: readonly OutputItem[],
): object {
  const reason = isFiltered(answer) ? 'content_filter' : 'max_output_tokens';
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1_000),
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    model: request.model,
    output,
    previous_response_id: null,
    ...request.repeated,
    usage: status === 'in_progress' || !answer.usage ? null : responsesUsage(answer.usage),
  };
}

function responsesUsage({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: Usage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
