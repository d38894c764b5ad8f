import type { JsonValue } from '../../../contracts/schemas/message.js';
import type { AnswerMetadata } from '../chat/ui-chunk.js';

/** A call of a tool in a message. `arguments` is JSON. */
export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of the client, sent back as it is, or one of an answer. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  content?: unknown;
  toolCalls?: AgUiToolCall[];
  readonly toolCallId?: string;
}

/** The events of a run for which AG-UI has no type of its own (`CUSTOM`). */
export type AgUiCustom =
  /** The run that answers: its id in the other routes. */
  | { readonly name: 'perdure.run'; readonly value: { readonly runId: string } }
  /** A call waits for approval. */
  | {
      readonly name: 'perdure.approval';
      readonly value: { readonly runId: string; readonly callId: string; readonly toolCallId: string; readonly reason?: string };
    }
  | {
      readonly name: 'perdure.decision';
      readonly value: {
        readonly runId: string;
        readonly callId: string;
        readonly toolCallId: string;
        readonly approved: boolean;
        readonly reason?: string;
      };
    }
  | { readonly name: 'perdure.waiting'; readonly value: { readonly for: string } };

/** One event of AG-UI 1.0, as far as the gateway sends it. The tests read them with `HttpAgent` of `@ag-ui/client`. */
export type AgUiEvent =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string }
  /** Replaces the messages of the client: AG-UI has no event that removes one. */
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | {
      readonly type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END';
      readonly messageId: string;
    }
  | { readonly type: 'TOOL_CALL_START'; readonly toolCallId: string; readonly toolCallName: string; readonly parentMessageId?: string }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly role: 'tool';
      readonly content: string;
      readonly metadata?: Readonly<Record<string, JsonValue>>;
    }
  | ({ readonly type: 'CUSTOM' } & AgUiCustom)
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: { readonly type: 'success' | 'cancelled' };
      readonly result: AnswerMetadata | undefined;
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string };
