import type { StopReason } from '../../../../contracts/schemas/model.js';
import type { WireAnswer, WireEvent, WireRequest } from '../../../format/format-server.js';
import { type AnswerPiece, answerPieces } from '../../../scripted/script-pieces.js';
import type { ChatTemplate } from '../../../templates/chat-template.js';
import { toCompletionUsage } from '../../completion-usage.js';

/** A checked request of completions. */
export interface CompletionsWireRequest extends WireRequest {
  /** The template that the prompt is written in; the answer uses it too. */
  readonly template: ChatTemplate['name'];
}

type CompletionsAnswer = WireAnswer<CompletionsWireRequest>;

/** Completions have no tool calls: an answer with calls ends like any other. */
const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  tool_calls: 'stop',
  length: 'length',
  refusal: 'content_filter',
  paused: 'stop',
};

/** How a model of each template writes a call around its arguments. */
const CALLS: Readonly<Record<ChatTemplate['name'], { readonly before: string; readonly between: string; readonly after: string }>> = {
  qwen3: { before: '\n<tool_call>\n{"name": ', between: ', "arguments": ', after: '}\n</tool_call>' },
  gemma: { before: '\n```tool_code\n{"name": ', between: ', "parameters": ', after: '}\n```' },
  plain: { before: '\n[called ', between: ' ', after: ']' },
};

/** The events of a streamed answer, `[DONE]` included. */
export function completionsEvents(wire: CompletionsAnswer): WireEvent[] {
  const { answer, request } = wire;
  const writer = new PieceWriter(request.template, answer.stop === 'length');
  const events = answerPieces(answer).flatMap((piece): WireEvent[] => {
    const text = writer.write(piece);
    const isFinish = piece.kind === 'finish';
    if (text === '' && !isFinish && piece.kind !== 'start') return [];
    return [{ kind: piece.kind, text: chunk(wire, [choice(text, isFinish ? FINISH_REASONS[answer.stop] : null)]) }];
  });
  if (request.streamUsage && answer.usage) events.push({ kind: 'usage', text: chunk(wire, [], toCompletionUsage(answer.usage)) });
  return [...events, { kind: 'done', text: 'data: [DONE]\n\n' }];
}

/** The whole answer as one document. */
export function completionsDocument(wire: CompletionsAnswer): unknown {
  const { answer, request } = wire;
  const writer = new PieceWriter(request.template, answer.stop === 'length');
  const text = answerPieces(answer)
    .map((piece) => writer.write(piece))
    .join('');
  return {
    ...head(wire),
    choices: [choice(text, FINISH_REASONS[answer.stop])],
    ...(answer.usage ? { usage: toCompletionUsage(answer.usage) } : {}),
  };
}

/** Writes pieces as the text that a model would give. What its limit cut has no end. */
class PieceWriter {
  readonly #call: (typeof CALLS)['qwen3'];
  readonly #isCut: boolean;
  #open: 'thinking' | 'text' | 'call' | undefined;
  #hasArguments = false;

  constructor(template: ChatTemplate['name'], isCut: boolean) {
    this.#call = CALLS[template];
    this.#isCut = isCut;
  }

  write(piece: AnswerPiece): string {
    switch (piece.kind) {
      case 'start':
      case 'finish':
        return '';
      case 'thinking':
        return this.#enter('thinking', '<think>\n') + piece.text;
      case 'text':
        return this.#enter('text', '') + piece.text;
      case 'tool_call':
        this.#open = 'call';
        this.#hasArguments = false;
        return `${this.#call.before}${JSON.stringify(piece.name)}${this.#call.between}`;
      case 'arguments':
        this.#hasArguments = true;
        return piece.text;
      case 'block_end':
        return this.#leave();
    }
  }

  #enter(block: 'thinking' | 'text', mark: string): string {
    const isNew = this.#open !== block;
    this.#open = block;
    return isNew ? mark : '';
  }

  #leave(): string {
    const block = this.#open;
    this.#open = undefined;
    if (block === 'thinking') return '\n</think>\n\n';
    if (block !== 'call' || this.#isCut) return '';
    return `${this.#hasArguments ? '' : '{}'}${this.#call.after}`;
  }
}

function choice(text: string, finishReason: string | null): object {
  return { index: 0, text, logprobs: null, finish_reason: finishReason };
}

function head({ id, request }: CompletionsAnswer): object {
  return { id: `cmpl-${id}`, object: 'text_completion', created: Math.floor(Date.now() / 1_000), model: request.model };
}

function chunk(wire: CompletionsAnswer, choices: readonly object[], usage?: object): string {
  const { streamUsage } = wire.request;
  return `data: ${JSON.stringify({ ...head(wire), choices, ...(streamUsage ? { usage: usage ?? null } : {}) })}\n\n`;
}
