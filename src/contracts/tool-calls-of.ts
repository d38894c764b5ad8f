import type { Message, ToolCallPart } from './schemas/message.js';

/** The calls an assistant message asks for, in order. Never throws. */
export function toolCallsOf(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === 'tool_call');
}
