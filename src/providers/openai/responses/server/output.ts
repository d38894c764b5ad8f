import type { WireAnswer, WireRequest } from '../../../format/format-server.js';
import type { ScriptedAnswer } from '../../../scripted/script-player.js';
import { encryptedReasoning, itemId } from './signature.js';

/** A checked request of the Responses API. */
export interface ResponsesWireRequest extends WireRequest {
  /** Thinking is returned encrypted beside its text. */
  readonly encrypted: boolean;
  /** Fields of the request that its answer repeats. */
  readonly repeated: Readonly<Record<string, unknown>>;
}

/** The answer to such a request. */
export type ResponsesAnswer = WireAnswer<ResponsesWireRequest>;

/** An item of an answer, whole. */
export type OutputItem =
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
      readonly encrypted_content?: string;
    }
  | {
      readonly type: 'message';
      readonly id: string;
      readonly status: ItemStatus;
      readonly role: 'assistant';
      readonly content: readonly [OutputContent];
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly status: ItemStatus;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

/** `incomplete`: the output limit cut it. */
type ItemStatus = 'completed' | 'incomplete';

/** What a message says, or how the model refuses. */
export type OutputContent =
  | { readonly type: 'output_text'; readonly text: string; readonly annotations: readonly []; readonly logprobs: readonly [] }
  | { readonly type: 'refusal'; readonly refusal: string };

/** The items of an answer in order. Of one that its limit cut, the last one is not complete. */
export function outputItems({ id, request, answer }: ResponsesAnswer): OutputItem[] {
  const items: OutputItem[] = [];
  if (answer.thinking) items.push(reasoningItem(itemId('rs', id, 0), answer.thinking, request.encrypted));
  if (answer.text) {
    items.push({
      id: itemId('msg', id, items.length),
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [contentOf(answer)],
    });
  }
  for (const call of answer.toolCalls) {
    items.push({
      id: itemId('fc', id, items.length),
      type: 'function_call',
      status: 'completed',
      arguments: call.argsText,
      call_id: call.id,
      name: call.name,
    });
  }
  if (answer.stop !== 'length') return items;
  return items.map((item, place) => (place === items.length - 1 && item.type !== 'reasoning' ? { ...item, status: 'incomplete' } : item));
}

function reasoningItem(id: string, thinking: string, encrypted: boolean): OutputItem {
  const summary = [{ type: 'summary_text' as const, text: thinking }];
  return { id, type: 'reasoning', summary, ...(encrypted ? { encrypted_content: encryptedReasoning(id, summary) } : {}) };
}

function contentOf({ text, stop }: ScriptedAnswer): OutputContent {
  return stop === 'refusal' ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [], logprobs: [] };
}
