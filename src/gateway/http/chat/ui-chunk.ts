import type { JsonValue } from '../../../contracts/schemas/message.js';
import type { ToolOutput } from './tool-output.js';

/** What the metadata of an assistant message has. The reason and the numbers come with the end of the run. */
export interface AnswerMetadata {
  readonly runId: string;
  readonly reason?: string;
  readonly turns?: number;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  readonly costUsd?: number;
}

/** One chunk of the AI SDK's UI message stream (version 1), as far as the gateway sends it. A test compiles it against the package `ai`. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: AnswerMetadata }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  /** Removes the parts of the current step. */
  | { readonly type: 'reset-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: JsonValue;
      /** No page runs the tool. */
      readonly providerExecuted: true;
    }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string; readonly reason?: string }
  | { readonly type: 'tool-approval-response'; readonly approvalId: string; readonly approved: boolean; readonly reason?: string }
  | { readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: ToolOutput }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  /** Why the run waits. Not part of the message. */
  | { readonly type: 'data-waiting'; readonly data: { readonly for: string }; readonly transient: true }
  | {
      readonly type: 'finish';
      readonly finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'other';
      readonly messageMetadata: AnswerMetadata;
    }
  | { readonly type: 'message-metadata'; readonly messageMetadata: AnswerMetadata }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'error'; readonly errorText: string };

/** The headers by which clients know the stream. */
export const UI_STREAM_HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' } as const;

/** Objects as server-sent events. */
export function framesOf(sent: readonly object[]): Buffer {
  // JSON has no line break
  return Buffer.from(sent.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
}

/** What follows the last chunk. */
export const DONE = Buffer.from('data: [DONE]\n\n');
