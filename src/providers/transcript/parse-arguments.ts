import { repairArguments } from '../../activities/providers/repair-arguments.js';
import type { JsonValue, Part, ToolCallPart } from '../../contracts/schemas/message.js';

/** No tool needs more; what is deeper would overflow the stack of whoever walks it. */
export const ARGUMENTS_DEPTH_MAX = 100;

/** Arguments that a tool may be given, or why a text holds none. */
export type ParsedArguments = { readonly args: Record<string, JsonValue> } | { readonly problem: string };

/**
 * A model's argument text as a tool call: parsed when it is a JSON object (nothing at all is the empty object), else empty arguments
 * beside the text as it was sent, so that the model can be told what was wrong. Never throws.
 */
export function toolCallPart(callId: string, name: string, text: string): ToolCallPart {
  if (text.trim() === '') return { type: 'tool_call', callId, name, args: {} };
  const parsed = parseArgumentsText(text);
  return 'args' in parsed
    ? { type: 'tool_call', callId, name, args: parsed.args }
    : { type: 'tool_call', callId, name, args: {}, argsText: text };
}

/**
 * A complete answer's parts with the arguments repaired that only lacked form, and how many those were. A repaired call is one like
 * any other: what was sent is not kept, so that no provider ever gets it back. Never to be asked of an answer that its length limit cut.
 */
export function repairCalls(
  parts: readonly Part[],
  { mayBeCut = false }: { readonly mayBeCut?: boolean | undefined } = {},
): { readonly parts: Part[]; readonly repaired: number } {
  const after = parts.map((part) => (part.type === 'tool_call' && !(mayBeCut && isOpen(part)) ? repairCall(part) : part));
  return { parts: after, repaired: after.filter((part, index) => part !== parts[index]).length };
}

/** More brackets open than close, strings left aside. */
function isOpen({ argsText = '' }: ToolCallPart): boolean {
  const brackets = argsText.replaceAll(/"(?:[^"\\]|\\[\s\S])*"/gu, '');
  return brackets.replaceAll(/[^{[]/gu, '').length > brackets.replaceAll(/[^}\]]/gu, '').length;
}

function repairCall(call: ToolCallPart): ToolCallPart {
  // what is JSON already, but no object, lacks more than form
  if (call.argsText === undefined || isJson(call.argsText)) return call;
  const text = repairArguments(call.argsText);
  const parsed = text === undefined ? undefined : parseArgumentsText(text);
  if (!parsed || !('args' in parsed)) return call;
  const { argsText: _, ...kept } = call;
  return { ...kept, args: parsed.args };
}

/** The arguments of a call as they are sent back: an object always, and none where the model's own were none. */
export function sentArguments({ args, argsText }: ToolCallPart): Record<string, JsonValue> {
  return argsText === undefined && isObject(args) ? args : {};
}

/** Reads an argument text strictly. Of two members with one name JSON.parse takes the last: such an object is refused. Never throws. */
export function parseArgumentsText(text: string): ParsedArguments {
  try {
    // all that JSON.parse gives is a JsonValue
    const value = JSON.parse(text) as JsonValue;
    if (!isObject(value)) return { problem: 'not a JSON object' };
    if (!isShallow(value, ARGUMENTS_DEPTH_MAX)) return { problem: `nested deeper than ${ARGUMENTS_DEPTH_MAX} levels` };
    if (membersIn(value) !== colonsIn(text)) return { problem: 'an object has the same key twice' };
    return { args: HALF_SIGN.test(text) ? wellFormed(value) : value };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message };
    throw error;
  }
}

/** Half of a sign beyond 16 bits may stand here, escaped or as it is. */
const HALF_SIGN = /\\u[dD][89a-fA-F]|\p{Cs}/u;

/** Half a sign is JSON, but no Unicode: servers refuse each request that holds one, and the call stays in the transcript. */
function wellFormed<Value extends JsonValue>(value: Value): Value;
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => wellFormed(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** True when a value has at most so many levels. Looks no deeper than that. */
export function isShallow(value: JsonValue, depthLeft: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  return depthLeft > 0 && Object.values(value).every((inner) => isShallow(inner, depthLeft - 1));
}

function membersIn(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, member) => sum + membersIn(member), Array.isArray(value) ? 0 : inner.length);
}

/** The colons of a JSON text outside its strings: one for each member of an object. */
function colonsIn(json: string): number {
  let colons = 0;
  let inString = false;
  // a pattern for strings overflows the stack in one of some megabytes
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charAt(at);
    if (sign === '"') inString = !inString;
    else if (inString && sign === '\\') at += 1;
    else if (!inString && sign === ':') colons += 1;
  }
  return colons;
}
