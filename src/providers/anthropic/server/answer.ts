import { NO_USAGE } from '../../../contracts/models/usage.js';
import type { StopReason, Usage } from '../../../contracts/schemas/model.js';
import type { WireAnswer, WireEvent, WireRequest } from '../../format/format-server.js';
import { type AnswerPiece, answerPieces } from '../../scripted/script-pieces.js';
import { signatureOf } from './thinking-rules.js';

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  paused: 'pause_turn',
};

/** A checked request of the messages API. */
export interface MessagesRequest extends WireRequest {
  /** The transcript to which the answer's thinking is bound; newer models only. */
  readonly prefix?: string;
}

type MessagesAnswer = WireAnswer<MessagesRequest>;

/** An event without content that keeps the connection alive. */
export const ANTHROPIC_PING = sse('ping', {});

/** The events of a streamed answer, `message_stop` included. */
export function anthropicEvents(wire: MessagesAnswer): WireEvent[] {
  const blocks = new BlockEvents(signed(wire));
  return answerPieces(wire.answer).flatMap((piece): WireEvent[] => {
    if (piece.kind === 'start')
      return [
        { kind: 'start', text: sse('message_start', { message: emptyMessage(wire) }) },
        { kind: 'ping', text: ANTHROPIC_PING },
      ];
    if (piece.kind === 'finish') return endEvents(wire);
    return blocks.eventsOf(piece);
  });
}

/** The whole answer as one document. */
export function anthropicDocument(wire: MessagesAnswer): unknown {
  const { answer } = wire;
  const content: unknown[] = [];
  if (answer.thinking) content.push({ type: 'thinking', thinking: answer.thinking, signature: signed(wire) });
  if (answer.text) content.push({ type: 'text', text: answer.text });
  for (const call of answer.toolCalls) content.push({ type: 'tool_use', id: call.id, name: call.name, input: inputOf(call.argsText) });
  return {
    ...emptyMessage(wire),
    content,
    stop_reason: STOP_REASONS[answer.stop],
    ...usageField(answer.usage, answer.usage?.outputTokens),
  };
}

type BlockPiece = Exclude<AnswerPiece, { kind: 'start' | 'finish' }>;

/** Counts the blocks of an answer while its pieces become events: a block is opened with its first piece. */
class BlockEvents {
  readonly #signature: string;
  #index = 0;
  #open: 'thinking' | 'text' | 'tool_use' | undefined;

  /** @param signature of what the answer thinks */
  constructor(signature: string) {
    this.#signature = signature;
  }

  eventsOf(piece: BlockPiece): WireEvent[] {
    switch (piece.kind) {
      case 'thinking':
        return [
          ...this.#start('thinking', { type: 'thinking', thinking: '', signature: '' }),
          this.#delta('thinking', { type: 'thinking_delta', thinking: piece.text }),
        ];
      case 'text':
        return [...this.#start('text', { type: 'text', text: '' }), this.#delta('text', { type: 'text_delta', text: piece.text })];
      case 'tool_call':
        this.#open = 'tool_use';
        return [{ kind: 'tool_call', text: this.#startText({ type: 'tool_use', id: piece.id, name: piece.name, input: {} }) }];
      case 'arguments':
        return [this.#delta('arguments', { type: 'input_json_delta', partial_json: piece.text })];
      case 'block_end':
        return this.#end();
    }
  }

  #start(block: 'thinking' | 'text', content_block: object): WireEvent[] {
    if (this.#open === block) return [];
    this.#open = block;
    return [{ kind: 'block_start', text: this.#startText(content_block) }];
  }

  #startText(content_block: object): string {
    return sse('content_block_start', { index: this.#index, content_block });
  }

  #delta(kind: WireEvent['kind'], delta: object): WireEvent {
    return { kind, text: sse('content_block_delta', { index: this.#index, delta }) };
  }

  #end(): WireEvent[] {
    const signature = this.#open === 'thinking' ? [this.#delta('thinking', { type: 'signature_delta', signature: this.#signature })] : [];
    const stop: WireEvent = { kind: 'block_end', text: sse('content_block_stop', { index: this.#index }) };
    this.#open = undefined;
    this.#index += 1;
    return [...signature, stop];
  }
}

function signed({ answer, request }: MessagesAnswer): string {
  return signatureOf(answer.thinking, request.prefix);
}

function endEvents({ answer }: MessagesAnswer): WireEvent[] {
  const delta = { stop_reason: STOP_REASONS[answer.stop], stop_sequence: null };
  const usage = answer.usage ? { usage: { output_tokens: answer.usage.outputTokens } } : {};
  return [
    { kind: 'finish', text: sse('message_delta', { delta, ...usage }) },
    { kind: 'done', text: sse('message_stop', {}) },
  ];
}

function emptyMessage({ id, request, answer }: MessagesAnswer): object {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...usageField(answer.usage, 1),
  };
}

/** Here input tokens are those that no cache took part in. */
function usageField(usage: Usage | undefined, outputTokens = 0): object {
  if (!usage) return {};
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = { ...NO_USAGE, ...usage };
  return {
    usage: {
      input_tokens: inputTokens - cacheReadTokens - cacheWriteTokens,
      cache_creation_input_tokens: cacheWriteTokens,
      cache_read_input_tokens: cacheReadTokens,
      output_tokens: outputTokens,
    },
  };
}

/** Outside a stream broken arguments cannot be expressed: the API then gives an empty object. */
function inputOf(argsText: string): unknown {
  try {
    return JSON.parse(argsText);
  } catch {
    return {};
  }
}

function sse(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
