import type { JsonValue, Message } from '../../../contracts/schemas/message.js';
import type { SessionRun } from '../../../contracts/schemas/session.js';
import { errorTextOf, outputOf, type ToolOutput } from './tool-output.js';
import type { AnswerMetadata } from './ui-chunk.js';

/** A part of a stored message, in the form of the AI SDK. */
export type UiPart =
  | { type: 'step-start' }
  | { type: 'text' | 'reasoning'; text: string; state: 'done' }
  | { type: 'file'; mediaType: string; url: string }
  | { type: `tool-${string}`; toolCallId: string; providerExecuted: true; state: 'output-available'; input: JsonValue; output: ToolOutput }
  | { type: `tool-${string}`; toolCallId: string; providerExecuted: true; state: 'output-error'; input: JsonValue; errorText: string };

/** A stored message, as `useChat` takes it (`messages`). A test compiles it against the package `ai`. */
export interface UiMessage {
  id: string;
  role: 'user' | 'assistant';
  metadata?: AnswerMetadata;
  parts: UiPart[];
}

/**
 * The messages of one run of a chat: that of the user, and its answer once the run has ended. `own`: its messages from its task on, or the
 * last of them.
 */
export function uiMessagesOf({ runId, messageIds, reason }: SessionRun, own: readonly Message[]): UiMessage[] {
  if (own.length === 0) return [];
  const task = own.filter(isTask).flatMap(({ parts }) => parts.flatMap(userPart));
  const id = messageIds[0] ?? `${runId}-task`;
  const question: UiMessage[] = own.some(isTask) ? [{ id, role: 'user', parts: task }] : [];
  if (reason === undefined) return question;
  return [...question, { id: runId, role: 'assistant', metadata: { runId, reason }, parts: answerParts(own) }];
}

/** True for the message that a run answers. */
export function isTask({ role, origin }: Message): boolean {
  return role === 'user' && origin === undefined;
}

function userPart(part: Message['parts'][number]): UiPart[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text, state: 'done' }];
  if (part.type !== 'file' || part.dataBase64 === undefined) return [];
  return [{ type: 'file', mediaType: part.mime, url: `data:${part.mime};base64,${part.dataBase64}` }];
}

function answerParts(messages: readonly Message[]): UiPart[] {
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_result' ? [part] : [])));
  return messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => [{ type: 'step-start' as const }, ...parts.flatMap((part) => answerPart(part, results))]);
}

type ToolResult = Extract<Message['parts'][number], { type: 'tool_result' }>;

function answerPart(part: Message['parts'][number], results: readonly ToolResult[]): UiPart[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, state: 'done' }];
    case 'thinking':
      return part.text === '' ? [] : [{ type: 'reasoning', text: part.text, state: 'done' }];
    case 'tool_call': {
      const result = results.find(({ callId }) => callId === part.callId);
      const call = { type: `tool-${part.name}`, toolCallId: part.callId, providerExecuted: true, input: part.args } as const;
      if (!result) return [];
      const output = outputOf(result.parts);
      if (!result.isError) return [{ ...call, state: 'output-available', output }];
      return [{ ...call, state: 'output-error', errorText: errorTextOf(output) }];
    }
    case 'tool_result':
    case 'file':
    case 'artifact':
      return [];
  }
}
