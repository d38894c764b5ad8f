import type { StopReason } from '../../../../contracts/schemas/model.js';
import type { WireAnswer, WireEvent } from '../../../format/format-server.js';
import { type AnswerPiece, answerPieces } from '../../../scripted/script-pieces.js';
import { toCompletionUsage } from '../../completion-usage.js';

/** Chat completions knows no paused answer; there it is an end like any other. */
const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  paused: 'stop',
};

/** The events of a streamed answer, `[DONE]` included. */
export function chatEvents(wire: WireAnswer): WireEvent[] {
  const { answer, request } = wire;
  const events = answerPieces(answer).flatMap((piece): WireEvent[] => {
    const choice = choiceOf(piece, FINISH_REASONS[answer.stop]);
    return choice ? [{ kind: piece.kind, text: chunk(wire, [choice]) }] : [];
  });
  if (request.streamUsage && answer.usage) events.push({ kind: 'usage', text: chunk(wire, [], toCompletionUsage(answer.usage)) });
  return [...events, { kind: 'done', text: 'data: [DONE]\n\n' }];
}

/** The whole answer as one document. */
export function chatDocument({ id, request, answer }: WireAnswer): unknown {
  const toolCalls = answer.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.argsText },
  }));
  const message = {
    role: 'assistant',
    content: answer.text === '' && toolCalls.length > 0 ? null : answer.text,
    refusal: null,
    ...(answer.thinking ? { reasoning_content: answer.thinking } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: nowSeconds(),
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH_REASONS[answer.stop] }],
    ...(answer.usage ? { usage: toCompletionUsage(answer.usage) } : {}),
  };
}

function choiceOf(piece: AnswerPiece, finishReason: string): unknown {
  switch (piece.kind) {
    case 'start':
      return { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
    case 'thinking':
      return { index: 0, delta: { reasoning_content: piece.text }, finish_reason: null };
    case 'text':
      return { index: 0, delta: { content: piece.text }, finish_reason: null };
    case 'tool_call':
      return toolDelta({ index: piece.index, id: piece.id, type: 'function', function: { name: piece.name, arguments: '' } });
    case 'arguments':
      return toolDelta({ index: piece.index, function: { arguments: piece.text } });
    case 'finish':
      return { index: 0, delta: {}, finish_reason: finishReason };
    case 'block_end':
      return undefined;
  }
}

function toolDelta(call: object): unknown {
  return { index: 0, delta: { tool_calls: [call] }, finish_reason: null };
}

function chunk({ id, request }: WireAnswer, choices: readonly unknown[], usage?: object): string {
  const body = {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created: nowSeconds(),
    model: request.model,
    choices,
    ...(request.streamUsage ? { usage: usage ?? null } : {}),
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
