import { errorTextOf } from '../chat/tool-output.js';
import type { AnswerMetadata, UiChunk } from '../chat/ui-chunk.js';
import type { AgUiCustom, AgUiEvent, AgUiMessage } from './agui-event.js';
import type { PostedInput } from './posted-agui.js';

type Chunk<Type extends UiChunk['type']> = Extract<UiChunk, { readonly type: Type }>;

/** A message of the answer whose text arrives. */
interface OpenMessage {
  readonly kind: 'text' | 'reasoning';
  readonly message: AgUiMessage & { content: string };
}

/**
 * Turns the chunks of an answer into events of AG-UI. AG-UI has no event that removes a text, so the writer has the messages of the client:
 * for an attempt that another one supersedes, it sends a snapshot of all of them without that attempt's text.
 */
export class AgUiWriter {
  readonly #ids: { readonly threadId: string; readonly runId: string };
  /** What the client shows. */
  readonly #messages: AgUiMessage[];
  readonly #older: readonly AgUiMessage[];
  /** Where the messages of the current step begin. */
  #stepFrom = 0;
  #open: OpenMessage | undefined;
  /** A message without text that the next thinking continues. */
  #emptied: OpenMessage['message'] | undefined;
  /** The run that answers. Before its first chunk, nothing has its id. */
  #answerId = '';
  #metadata: AnswerMetadata | undefined;
  readonly #denials = new Map<string, string>();

  constructor(ids: { readonly threadId: string; readonly runId: string }, { history, answer }: Pick<PostedInput, 'history' | 'answer'>) {
    this.#ids = { threadId: ids.threadId, runId: ids.runId };
    this.#messages = [...history];
    this.#older = answer;
  }

  /** The events of the next chunks of the answer. */
  take(chunks: readonly UiChunk[]): AgUiEvent[] {
    return chunks.flatMap((chunk) => this.#take(chunk));
  }

  #take(chunk: UiChunk): AgUiEvent[] {
    switch (chunk.type) {
      case 'start':
        return this.#begin(chunk.messageMetadata.runId);
      case 'start-step':
        this.#beginStep();
        return [];
      case 'reset-step':
        return [...this.#end(), this.#snapshotWithout(this.#messages.splice(this.#stepFrom))];
      case 'text-start':
      case 'reasoning-start':
        return this.#start(chunk.type === 'text-start' ? 'text' : 'reasoning', chunk.id);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#add(chunk.delta);
      case 'text-end':
      case 'reasoning-end':
        return this.#end();
      case 'tool-input-available':
        return this.#call(chunk);
      case 'tool-approval-request':
      case 'tool-approval-response':
        return [this.#approval(chunk)];
      case 'tool-output-available':
        return this.#result(chunk.toolCallId, errorTextOf(chunk.output));
      case 'tool-output-error':
        return this.#result(chunk.toolCallId, chunk.errorText, true);
      case 'tool-output-denied':
        return this.#result(chunk.toolCallId, this.#denials.get(chunk.toolCallId) ?? 'denied', true);
      case 'data-waiting':
        return [{ type: 'CUSTOM', name: 'perdure.waiting', value: chunk.data }];
      case 'message-metadata':
        this.#metadata = chunk.messageMetadata;
        return [];
      case 'finish':
        return [{ type: 'RUN_FINISHED', ...this.#ids, outcome: { type: 'success' }, result: chunk.messageMetadata }];
      case 'abort':
        return [{ type: 'RUN_FINISHED', ...this.#ids, outcome: { type: 'cancelled' }, result: this.#metadata }];
      case 'error':
        return [{ type: 'RUN_ERROR', message: chunk.errorText }];
      case 'finish-step':
        return [];
    }
  }

  /** A client that lost the connection has the beginning of the answer, which it gets again. */
  #begin(runId: string): AgUiEvent[] {
    this.#answerId = runId;
    const snapshot = this.#older.length === 0 ? [] : [this.#snapshotWithout(this.#older)];
    return [{ type: 'RUN_STARTED', ...this.#ids }, ...snapshot, { type: 'CUSTOM', name: 'perdure.run', value: { runId } }];
  }

  #beginStep(): void {
    const last = this.#messages.length - 1;
    if (this.#messages[last] !== this.#emptied) this.#emptied = undefined;
    this.#stepFrom = this.#emptied ? last : last + 1;
  }

  /** A snapshot without thinking leaves the thinking of the client as it is: then one message of it stays, without text. */
  #snapshotWithout(removed: readonly AgUiMessage[]): AgUiEvent {
    const thinking = this.#messages.some(isThinking) ? undefined : removed.find(isThinking);
    this.#emptied = thinking && { id: thinking.id, role: 'reasoning', content: '' };
    if (this.#emptied) this.#messages.push(this.#emptied);
    return { type: 'MESSAGES_SNAPSHOT', messages: [...this.#messages] };
  }

  #start(kind: OpenMessage['kind'], id: string): AgUiEvent[] {
    if (kind === 'text') {
      this.#open = { kind, message: this.#push({ id, role: 'assistant', content: '' }) };
      return [{ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' }];
    }
    const message = this.#emptied ?? this.#push({ id, role: 'reasoning', content: '' });
    this.#emptied = undefined;
    this.#open = { kind, message };
    const { id: messageId } = message;
    return [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    ];
  }

  #add(delta: string): AgUiEvent[] {
    if (!this.#open) return [];
    const { kind, message } = this.#open;
    message.content += delta;
    return [{ type: kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT', messageId: message.id, delta }];
  }

  #end(): AgUiEvent[] {
    if (!this.#open) return [];
    const {
      kind,
      message: { id: messageId },
    } = this.#open;
    this.#open = undefined;
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
    return [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ];
  }

  /** A call belongs to the text in front of it. Without one, it is a message of its own. */
  #call({ toolCallId: callId, toolName, input }: Chunk<'tool-input-available'>): AgUiEvent[] {
    const toolCallId = this.#callIdOf(callId);
    const args = JSON.stringify(input);
    const text = this.#messages.slice(this.#stepFrom).findLast(({ role }) => role === 'assistant');
    const owner: AgUiMessage = text ?? this.#push({ id: toolCallId, role: 'assistant' });
    owner.toolCalls = [...(owner.toolCalls ?? []), { id: toolCallId, type: 'function', function: { name: toolName, arguments: args } }];
    return [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName, parentMessageId: owner.id },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: args },
      { type: 'TOOL_CALL_END', toolCallId },
    ];
  }

  #approval(chunk: Chunk<'tool-approval-request' | 'tool-approval-response'>): AgUiEvent {
    const { approvalId: callId, reason } = chunk;
    const call = { runId: this.#answerId, callId, toolCallId: this.#callIdOf(callId), ...(reason === undefined ? {} : { reason }) };
    const isDecided = chunk.type === 'tool-approval-response';
    if (isDecided && reason !== undefined) this.#denials.set(callId, `denied: ${reason}`);
    const custom: AgUiCustom = isDecided
      ? { name: 'perdure.decision', value: { ...call, approved: chunk.approved } }
      : { name: 'perdure.approval', value: call };
    return { type: 'CUSTOM', ...custom };
  }

  #result(callId: string, content: string, isError = false): AgUiEvent[] {
    const toolCallId = this.#callIdOf(callId);
    const messageId = `${toolCallId}:result`;
    const result = { toolCallId, role: 'tool', content, ...(isError ? { metadata: { isError } } : {}) } as const;
    this.#push({ id: messageId, ...result });
    return [{ type: 'TOOL_CALL_RESULT', messageId, ...result }];
  }

  /** Ids of calls are unique in a run, and those of AG-UI in a conversation. */
  #callIdOf(callId: string): string {
    return `${this.#answerId}:${callId}`;
  }

  #push<Message extends AgUiMessage>(message: Message): Message {
    this.#messages.push(message);
    return message;
  }
}

function isThinking({ role }: AgUiMessage): boolean {
  return role === 'reasoning';
}
