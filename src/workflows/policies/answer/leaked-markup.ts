import { parseJson } from '../../../contracts/json/parse-json.js';
import type { JsonValue } from '../../../contracts/schemas/message.js';
import { announcesWork } from './announced-work.js';
import { finalBlock, proseOf } from './markdown-blocks.js';

/** A leaked call is at the beginning of a sentence or a line. Within a sentence its markup is only mentioned. */
const BEGINNING = String.raw`(?:^[ \t]*|[.:!?)][ \t]+)`;

/** The markup of tool calls that models are trained on, with enough of the call to distinguish it from a mention. */
const MARKUP: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: '<tool_call>', pattern: beginning(String.raw`<(?:tool_calls?|function_calls?|tool_use)>\s*(?:[{[<]|[\w.-]+\s*?[\n<({])`) },
  { what: '<function=…>', pattern: beginning(String.raw`<function(?:=|\s+name=)["']?[\w.-]+["']?>`) },
  { what: '<invoke …>', pattern: beginning(String.raw`<(?:\w+:)?invoke\s+name=["'][\w.-]+["']`) },
  { what: '[TOOL_CALLS]', pattern: beginning(String.raw`\[TOOL_CALLS\]\s*(?:\[?\s*\{|[\w.-]+(?:\[(?:ARGS|CALL_ID)\]|\{))`) },
  { what: '<|python_tag|>', pattern: beginning(String.raw`<\|python_tag\|>`) },
  { what: '<|tool_calls_begin|>', pattern: beginning(String.raw`<[|｜]tool[_▁]calls?[_▁](?:section[_▁])?begin[|｜]>`) },
  { what: '<｜DSML｜…>', pattern: beginning(String.raw`<[|｜]\s?DSML\s?[|｜]\s?(?:function_calls|tool_calls|invoke)\b`) },
  { what: '<|channel|>', pattern: beginning(String.raw`(?:<\|start\|>assistant)?<\|channel\|>commentary\b[^\n]{0,40}to=`) },
  { what: 'Action Input:', pattern: /^Action:[ \t]*[\w.-]+[ \t]*\nAction Input:/mu },
];

/** Languages of code blocks that occur only in leaked calls. */
const CALL_LANGUAGES: ReadonlySet<string> = new Set(['tool_call', 'tool_calls', 'tool_code', 'function_call']);

/** The beginning of JSON that may be a call. White space is limited, so that the search is linear. */
const JSON_CALL = /^[ \t]{0,8}\[?[ \t\n]{0,8}\{[ \t\n]{0,8}"(?:name|tool|tool_name|function|type|tool_calls)"/mu;
const NAME_FIELDS = ['name', 'tool', 'tool_name', 'function'];
const ARGUMENT_FIELDS = ['arguments', 'args', 'parameters', 'input', 'tool_input'];

/**
 * The markup of a tool call that leaked into a text; undefined when there is none. Markup in a code block or in backticks is shown on
 * purpose, but a block without other text, or after "I will call …", is a call. JSON counts as a call when it names one of `tools`, or,
 * without `tools`, when the answer has no other text. Never throws.
 */
export function leakedMarkup(text: string, tools?: readonly string[]): string | undefined {
  const block = finalBlock(text);
  const calling = block && (block.before === '' || announcesWork(block.before)) ? block : undefined;
  if (calling && CALL_LANGUAGES.has(calling.language)) return `\`\`\`${calling.language}`;
  const prose = proseOf(text);
  const shown = calling ? [prose, calling.body] : [prose];
  const found = MARKUP.find(({ pattern }) => shown.some((part) => pattern.test(part)));
  if (found) return found.what;
  if (calling && isJsonCall(calling.body, tools)) return 'a JSON call';
  return endsWithJsonCall(prose, tools) ? 'a JSON call' : undefined;
}

function beginning(markup: string): RegExp {
  return new RegExp(BEGINNING + markup, 'mu');
}

/** True for a text that ends with a JSON call outside of code blocks. */
function endsWithJsonCall(prose: string, tools: readonly string[] | undefined): boolean {
  const at = JSON_CALL.exec(prose)?.index;
  return at !== undefined && (at === 0 || tools !== undefined) && isJsonCall(prose.slice(at), tools);
}

function isJsonCall(text: string, tools: readonly string[] | undefined): boolean {
  const value = parseJson(text);
  const calls = Array.isArray(value) ? value : [value];
  return calls.length > 0 && calls.every((call) => isCall(call, tools));
}

function isCall(value: JsonValue | undefined, tools: readonly string[] | undefined): boolean {
  if (!isObject(value)) return false;
  if (Array.isArray(value['tool_calls'])) return value['tool_calls'].some((call) => isCall(call, tools));
  if (isObject(value['function'])) return isCall(value['function'], tools);
  const name = NAME_FIELDS.map((field) => value[field]).find((field) => typeof field === 'string');
  const hasArguments = ARGUMENT_FIELDS.some((field) => isObject(value[field]) || typeof value[field] === 'string');
  return typeof name === 'string' && hasArguments && (tools === undefined || tools.includes(name));
}

function isObject(value: JsonValue | undefined): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
