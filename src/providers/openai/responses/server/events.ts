import type { EventKind } from '../../../scripted/script-fault.js';
import type { AnswerPiece } from '../../../scripted/script-pieces.js';
import type { OutputItem } from './output.js';

/** An event that has no number yet. */
export interface ItemEvent {
  readonly kind: EventKind;
  readonly type: string;
  readonly fields: object;
}

/** Writes an event as it goes over the wire. */
export function responsesEvent(type: string, fields: object, sequence_number: number): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`;
}

/** Goes through the items of an answer while its pieces become events: an item is opened with its first piece. */
export class ResponsesEvents {
  readonly #items: readonly OutputItem[];
  #place = 0;
  #isOpen = false;

  constructor(items: readonly OutputItem[]) {
    this.#items = items;
  }

  eventsOf(piece: AnswerPiece): ItemEvent[] {
    const item = this.#items[this.#place];
    if (piece.kind === 'start' || piece.kind === 'finish' || !item) return [];
    const at = { item_id: item.id, output_index: this.#place };
    if (piece.kind === 'block_end') {
      this.#place += 1;
      this.#isOpen = false;
      return endEvents(item, at);
    }
    const opening = this.#isOpen ? [] : startEvents(item, at);
    this.#isOpen = true;
    return piece.kind === 'tool_call' ? opening : [...opening, deltaEvent(item, at, piece.text)];
  }
}

/** Which item an event is about. */
interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

function startEvents(item: OutputItem, at: Place): ItemEvent[] {
  const { output_index } = at;
  switch (item.type) {
    case 'reasoning': {
      const part = { ...at, summary_index: 0, part: { type: 'summary_text', text: '' } };
      const { encrypted_content: _, ...empty } = { ...item, summary: [] };
      return [
        added('block_start', output_index, empty),
        { kind: 'block_start', type: 'response.reasoning_summary_part.added', fields: part },
      ];
    }
    case 'message': {
      const [whole] = item.content;
      const part = whole.type === 'refusal' ? { ...whole, refusal: '' } : { ...whole, text: '' };
      return [
        added('block_start', output_index, { ...item, status: 'in_progress', content: [] }),
        { kind: 'block_start', type: 'response.content_part.added', fields: { ...at, content_index: 0, part } },
      ];
    }
    case 'function_call':
      return [added('tool_call', output_index, { ...item, status: 'in_progress', arguments: '' })];
  }
}

function deltaEvent(item: OutputItem, at: Place, delta: string): ItemEvent {
  switch (item.type) {
    case 'reasoning':
      return { kind: 'thinking', type: 'response.reasoning_summary_text.delta', fields: { ...at, summary_index: 0, delta } };
    case 'message':
      return item.content[0].type === 'refusal'
        ? { kind: 'text', type: 'response.refusal.delta', fields: { ...at, content_index: 0, delta } }
        : { kind: 'text', type: 'response.output_text.delta', fields: { ...at, content_index: 0, delta, logprobs: [] } };
    case 'function_call':
      return { kind: 'arguments', type: 'response.function_call_arguments.delta', fields: { ...at, delta } };
  }
}

function endEvents(item: OutputItem, at: Place): ItemEvent[] {
  const done = ended('response.output_item.done', { output_index: at.output_index, item });
  switch (item.type) {
    case 'reasoning': {
      const [part] = item.summary;
      const place = { ...at, summary_index: 0 };
      return [
        ended('response.reasoning_summary_text.done', { ...place, text: part?.text ?? '' }),
        ended('response.reasoning_summary_part.done', { ...place, part }),
        done,
      ];
    }
    case 'message': {
      const [part] = item.content;
      const place = { ...at, content_index: 0 };
      const text =
        part.type === 'refusal'
          ? ended('response.refusal.done', { ...place, refusal: part.refusal })
          : ended('response.output_text.done', { ...place, text: part.text, logprobs: [] });
      return [text, ended('response.content_part.done', { ...place, part }), done];
    }
    case 'function_call':
      return [ended('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments }), done];
  }
}

function added(kind: EventKind, output_index: number, item: object): ItemEvent {
  return { kind, type: 'response.output_item.added', fields: { output_index, item } };
}

function ended(type: string, fields: object): ItemEvent {
  return { kind: 'block_end', type, fields };
}
