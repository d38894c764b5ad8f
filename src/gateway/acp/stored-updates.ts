import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk';
import type { UiMessage, UiPart } from '../http/chat/stored-messages.js';
import type { UiChunk } from '../http/chat/ui-chunk.js';
import { AnswerUpdates, type ShownRun } from './answer-updates.js';

/** A stored message of a conversation as updates: that of the user, or the whole answer of a run. */
export function storedUpdates({ id, role, parts }: UiMessage, run: ShownRun): SessionUpdate[] {
  if (role === 'user') {
    return parts.flatMap((part) => {
      const content = userContent(part);
      return content ? [{ sessionUpdate: 'user_message_chunk' as const, messageId: id, content }] : [];
    });
  }
  const updates = new AnswerUpdates(run);
  return parts.flatMap(chunksOf).flatMap((chunk) => updates.chunk(chunk));
}

function userContent(part: UiPart): ContentBlock | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type !== 'file') return undefined;
  const { data } = /^data:[^,]*;base64,(?<data>.*)$/u.exec(part.url)?.groups ?? {};
  if (data === undefined || !part.mediaType.startsWith('image/')) return { type: 'text', text: `[${part.mediaType}]` };
  return { type: 'image', data, mimeType: part.mediaType };
}

/** The chunks that the part had when it was streamed. */
function chunksOf(part: UiPart): UiChunk[] {
  switch (part.type) {
    case 'step-start':
      return [{ type: 'start-step' }];
    case 'text':
    case 'reasoning':
      return [{ type: `${part.type}-delta`, id: '', delta: part.text }];
    case 'file':
      return [];
    default:
      return callChunks(part);
  }
}

function callChunks(part: Extract<UiPart, { type: `tool-${string}` }>): UiChunk[] {
  const { type, toolCallId, input } = part;
  const toolName = type.slice('tool-'.length);
  return [
    { type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: true },
    part.state === 'output-available'
      ? { type: 'tool-output-available', toolCallId, output: part.output }
      : { type: 'tool-output-error', toolCallId, errorText: part.errorText },
  ];
}
