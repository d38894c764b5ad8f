import { jsonrepair } from 'jsonrepair';
import { parseJson } from '../../contracts/json/parse-json.js';
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
  if (call.argsText === undefined || parseJson(call.argsText) !== undefined) return call;
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

/** Longer texts, and texts of more values, are refused as they are: the library needs time in the square of what it puts in. */
const REPAIR_CHARS_MAX = 256 * 1_024;
const REPAIR_VALUES_MAX = 2_000;

/**
 * JSON from a text that is almost JSON: literal line breaks in strings, closing brackets that are missing or too many, trailing
 * commas, code fences, single quotes, bare keys, Python's True, False and None. Undefined when more than form is missing: a repair
 * never adds, drops or changes a value, and never completes one that was cut. Never throws.
 */
export function repairArguments(text: string): string | undefined {
  if (text.length > REPAIR_CHARS_MAX) return undefined;
  const meant = valuesIn(text);
  if (!meant || !endsWithValue(meant) || ENDS_OPEN.test(text)) return undefined;
  const repaired = repair(text, meant);
  const kept = repaired === undefined ? undefined : valuesIn(repaired);
  return kept && contentOf(kept) === contentOf(meant) ? repaired : undefined;
}

/** The library sees a number in place of each string: it takes one that begins like a list for one without its end. */
function repair(text: string, meant: readonly Token[]): string | undefined {
  const strings = meant.filter(({ kind }) => kind === 'string');
  const between = strings.map(({ from }, index) => `${text.slice(strings[index - 1]?.to ?? 0, from)}"${index}"`);
  const bare = between.join('') + text.slice(strings.at(-1)?.to ?? 0);
  try {
    return jsonrepair(bare).replaceAll(/"(\d+)"/gu, (_, index: string) => strings[Number(index)]?.content ?? '');
  } catch (error) {
    // its own error, or a stack overflow by endless brackets
    if (error instanceof Error) return undefined;
    throw error;
  }
}

interface Token {
  readonly kind: 'string' | 'key' | 'number' | 'word' | 'colon' | 'close';
  /** As JSON. */
  readonly content: string;
  /** Where it stands in the text. */
  readonly from: number;
  readonly to: number;
}

/** After a last comma or opening bracket something was to follow. */
const ENDS_OPEN = /[,[{]\s*(?:```\s*)?$/u;

/** An unfinished string, an escape that JSON does not know, a number with a wrong end or a bare word match nothing here. */
const TOKENS =
  /(?<skip>\s+|,|[{[]|```[a-zA-Z]*)|(?<close>[}\]])|(?<colon>:)|(?<string>"(?:[^"\\]|\\(?:["'\\/bfnrt]|u[\da-fA-F]{4}))*"|'(?:[^'\\]|\\(?:["'\\/bfnrt]|u[\da-fA-F]{4}))*')|(?<key>[a-zA-Z_$][\w$]*(?=\s*:))|(?<word>(?:true|false|null|True|False|None)(?![\w$]))|(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w$.+-]))/uy;

const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/** The values of a text in their order, whatever brackets and commas stand between them; undefined when something in it is neither. */
function valuesIn(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKENS);
  while (pattern.lastIndex < text.length) {
    const from = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (!groups || tokens.length > REPAIR_VALUES_MAX) return undefined;
    const token = toToken(groups);
    if (token) tokens.push({ ...token, from, to: pattern.lastIndex });
  }
  return tokens;
}

function toToken({
  close,
  colon,
  string,
  key,
  word,
  number,
}: Readonly<Record<string, string | undefined>>): Pick<Token, 'kind' | 'content'> | undefined {
  if (close !== undefined) return { kind: 'close', content: '' };
  if (colon !== undefined) return { kind: 'colon', content: colon };
  if (string !== undefined) return { kind: 'string', content: JSON.stringify(unquote(string)) };
  if (key !== undefined) return { kind: 'key', content: JSON.stringify(key) };
  if (word !== undefined) return { kind: 'word', content: WORDS[word] ?? word };
  return number === undefined ? undefined : { kind: 'number', content: number };
}

/** What a quoted text means, with either quote and with literal line breaks. */
function unquote(quoted: string): unknown {
  const inner = quoted.slice(1, -1).replaceAll(/\\.|[\p{Cc}"]/gu, (piece) => {
    if (piece.length === 1) return JSON.stringify(piece).slice(1, -1);
    return piece === "\\'" ? "'" : piece;
  });
  return JSON.parse(`"${inner}"`);
}

/** A last number may be the half of a longer one; after a last colon something was to follow. */
function endsWithValue(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1)?.kind;
  return last === 'string' || last === 'word' || last === 'close';
}

function contentOf(tokens: readonly Token[]): string {
  const values = tokens.filter(({ kind }) => kind !== 'close');
  return values.map(({ content }) => content).join(' ');
}
