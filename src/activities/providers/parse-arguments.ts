import { z } from 'zod';
import type { ToolCallPart } from '../../contracts/message.js';

const Arguments = z.record(z.string(), z.json());

/**
 * A model's argument text as a tool call: parsed when it is a JSON object (nothing at all is the empty object), else empty arguments
 * beside the text as it was sent, so that the model can be told what was wrong (faults B31).
 */
export function toolCallPart(callId: string, name: string, text: string): ToolCallPart {
  if (text.trim() === '') return { type: 'tool_call', callId, name, args: {} };
  const args = parseObject(text);
  return args ? { type: 'tool_call', callId, name, args } : { type: 'tool_call', callId, name, args: {}, argsText: text };
}

function parseObject(text: string): z.infer<typeof Arguments> | undefined {
  try {
    return Arguments.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
