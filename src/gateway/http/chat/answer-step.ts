import type { Message, ToolCallPart } from '../../../contracts/schemas/message.js';
import { errorTextOf, outputOf } from './tool-output.js';
import type { UiChunk } from './ui-chunk.js';

/** How far a call is shown: its arguments, its request for approval, the refusal, its result. */
type CallState = 'shown' | 'asked' | 'denied' | 'ended';

/**
 * One step of an assistant message: one answer of the model, with its calls. It turns what arrives into chunks, each once, whatever the
 * order. Pure but for its own state.
 */
export class AnswerStep {
  readonly turn: number;
  /** True for the reserved final answer, which has the number of the last turn. */
  readonly isFinal: boolean;
  readonly #runId: string;
  #open: { readonly kind: 'text' | 'reasoning'; readonly id: string } | undefined;
  #parts = 0;
  #text = '';
  #reasoning = '';
  #message: Message | undefined;
  #hasApprovals = false;
  readonly #calls = new Map<string, CallState>();

  constructor(runId: string, { turn, isFinal }: { readonly turn: number; readonly isFinal: boolean }) {
    this.#runId = runId;
    this.turn = turn;
    this.isFinal = isFinal;
  }

  /** True while a call of the step is shown as waiting for approval. */
  get isAsking(): boolean {
    return [...this.#calls.values()].includes('asked');
  }

  /** The answer as the transcript has it, once `settle` got it. */
  get message(): Message | undefined {
    return this.#message;
  }

  /** True if text of the step was shown. */
  get hasText(): boolean {
    return this.#text !== '' || this.#reasoning !== '';
  }

  /** True if a call of the step was shown for approval. */
  get hasApprovals(): boolean {
    return this.#hasApprovals;
  }

  /** A piece of text that arrives. Nothing once the whole answer is known. */
  add(kind: 'text' | 'reasoning', delta: string): UiChunk[] {
    if (this.#message || delta === '') return [];
    if (kind === 'text') this.#text += delta;
    else this.#reasoning += delta;
    const isOpen = this.#open?.kind === kind;
    const before = isOpen ? [] : this.close();
    this.#open ??= { kind, id: this.#nextId() };
    const { id } = this.#open;
    return [...before, ...(isOpen ? [] : [{ type: `${kind}-start` as const, id }]), { type: `${kind}-delta`, id, delta }];
  }

  /** Drops the text of an attempt that another one supersedes. */
  reset(): UiChunk[] {
    if (this.#message || !this.hasText) return [];
    this.#open = undefined;
    this.#text = this.#reasoning = '';
    return [{ type: 'reset-step' }];
  }

  /** Compares what was shown with the whole answer, and shows the answer anew if they differ. */
  settle(message: Message): UiChunk[] {
    if (this.#message) return [];
    const text = joined(message, 'text');
    const reasoning = joined(message, 'thinking');
    const isWhole = text === this.#text && (reasoning === '' || reasoning === this.#reasoning);
    const begin: UiChunk[] = isWhole ? this.close() : this.reset();
    const rest = isWhole ? [] : message.parts.flatMap((part) => this.#whole(part));
    this.#message = message;
    return [...begin, ...rest];
  }

  /** Shows a call with its arguments. */
  call(callId: string, known: Pick<ToolCallPart, 'name' | 'args'>): UiChunk[] {
    if (this.#calls.has(callId)) return [];
    this.#calls.set(callId, 'shown');
    const { name, args } = this.callOf(callId) ?? known;
    return [...this.close(), { type: 'tool-input-available', toolCallId: callId, toolName: name, input: args, providerExecuted: true }];
  }

  /** Shows that a call waits for approval. */
  ask(callId: string, reason: string): UiChunk[] {
    if (this.#calls.get(callId) !== 'shown') return [];
    this.#calls.set(callId, 'asked');
    this.#hasApprovals = true;
    return [{ type: 'tool-approval-request', approvalId: callId, toolCallId: callId, ...(reason === '' ? {} : { reason }) }];
  }

  /** Shows a decision about a call. */
  decide(callId: string, { approved, reason }: { readonly approved: boolean; readonly reason?: string | undefined }): UiChunk[] {
    if (this.#calls.get(callId) !== 'asked') return [];
    this.#calls.set(callId, approved ? 'shown' : 'denied');
    return [
      { type: 'tool-approval-response', approvalId: callId, approved, ...(reason === undefined ? {} : { reason }) },
      ...(approved ? [] : [{ type: 'tool-output-denied' as const, toolCallId: callId }]),
    ];
  }

  /** Shows all calls of the answer that have a result, with it. */
  results(messages: readonly Message[]): UiChunk[] {
    const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part] : [])));
    return (this.#message?.parts ?? []).flatMap((part) => {
      if (part.type !== 'tool_call') return [];
      const { callId } = part;
      const result = results.find((each) => each.callId === callId);
      const state = this.#calls.get(callId);
      if (!result || state === 'ended' || state === 'denied') return [];
      const shown = this.call(callId, part);
      this.#calls.set(callId, 'ended');
      const output = outputOf(result.parts);
      return [
        ...shown,
        result.isError
          ? {
              type: 'tool-output-error' as const,
              toolCallId: callId,
              errorText: errorTextOf(output),
            }
          : { type: 'tool-output-available' as const, toolCallId: callId, output },
      ];
    });
  }

  /** Ends the part that is open. */
  close(): UiChunk[] {
    const open = this.#open;
    this.#open = undefined;
    return open ? [{ type: `${open.kind}-end`, id: open.id }] : [];
  }

  /** A call of the answer. */
  callOf(callId: string): ToolCallPart | undefined {
    return this.#message?.parts.find((part): part is ToolCallPart => part.type === 'tool_call' && part.callId === callId);
  }

  #whole(part: Message['parts'][number]): UiChunk[] {
    if ((part.type !== 'text' && part.type !== 'thinking') || part.text === '') return [];
    const kind = part.type === 'text' ? 'text' : 'reasoning';
    const id = this.#nextId();
    return [
      { type: `${kind}-start`, id },
      { type: `${kind}-delta`, id, delta: part.text },
      { type: `${kind}-end`, id },
    ];
  }

  /** Unique in the message, and the same in every replay of it that has the same parts. */
  #nextId(): string {
    this.#parts += 1;
    return `${this.#runId}-${this.turn}${this.isFinal ? 'f' : ''}-${this.#parts}`;
  }
}

function joined({ parts }: Message, type: 'text' | 'thinking'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}
