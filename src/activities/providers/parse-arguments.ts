import type { JsonValue, ToolCallPart } from '../../contracts/message.js';

/** No tool needs more; what is deeper would overflow the stack of whoever walks it. */
const DEPTH_MAX = 100;

/**
 * A model's argument text as a tool call: parsed when it is a JSON object (nothing at all is the empty object), else empty arguments
 * beside the text as it was sent, so that the model can be told what was wrong. Never throws.
 */
export function toolCallPart(callId: string, name: string, text: string): ToolCallPart {
  if (text.trim() === '') return { type: 'tool_call', callId, name, args: {} };
  const args = parseObject(text);
  return args ? { type: 'tool_call', callId, name, args } : { type: 'tool_call', callId, name, args: {}, argsText: text };
}

/** The arguments of a call as they are sent back: an object always, and none where the model's own were none. */
export function sentArguments({ args, argsText }: ToolCallPart): Record<string, JsonValue> {
  return argsText === undefined && isObject(args) ? args : {};
}

function parseObject(text: string): Record<string, JsonValue> | undefined {
  try {
    // all that JSON.parse gives is a JsonValue
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) && isShallow(value, DEPTH_MAX) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isShallow(value: JsonValue, depthLeft: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  return depthLeft > 0 && Object.values(value).every((inner) => isShallow(inner, depthLeft - 1));
}
