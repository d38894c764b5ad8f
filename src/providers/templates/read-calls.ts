import { z } from 'zod';
import { parseJson } from '../../contracts/json/parse-json.js';
import { JsonValue } from '../../contracts/schemas/message.js';
import { ARGUMENTS_DEPTH_MAX, isShallow } from '../transcript/parse-arguments.js';

/** A call as a model wrote it: its arguments are a text still. */
export interface WrittenCall {
  readonly name: string;
  readonly argsText: string;
}

/** What models call the arguments. */
const CallObject = z
  .object({ name: z.string().min(1), arguments: JsonValue.optional(), parameters: JsonValue.optional() })
  .transform(({ name, arguments: args, parameters = {} }) => ({ name, args: args ?? parameters }));

const Calls = z.union([CallObject.transform((call) => [call]), z.array(CallObject).min(1)]);

/** The beginning of a call up to its arguments. */
const BEGUN = /^\s*\{\s*"name"\s*:\s*"([^"\\]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*/u;

/** The calls that a JSON text is, one or a list; undefined when it is none, or deeper than arguments may be. Never throws. */
export function readCalls(text: string): readonly WrittenCall[] | undefined {
  const value = parseJson(text);
  // the schema walks it by recursion; around arguments there are an object and a list
  const isBounded = value !== undefined && isShallow(value, ARGUMENTS_DEPTH_MAX + 2);
  const calls = isBounded ? Calls.safeParse(value).data : undefined;
  // some models write the arguments as a string that holds JSON
  return calls?.map(({ name, args }) => ({ name, argsText: typeof args === 'string' ? args : JSON.stringify(args) }));
}

/** The call that a text was to be which is no JSON: its name, and its arguments as they were written; undefined without a name. */
export function readBrokenCall(text: string): WrittenCall | undefined {
  const begun = BEGUN.exec(text);
  if (!begun?.[1]) return undefined;
  const rest = text.slice(begun[0].length).trim();
  // the last bracket is the call's own, unless it was the one forgotten
  const argsText = parseJson(rest) === undefined && rest.endsWith('}') ? rest.slice(0, -1).trimEnd() : rest;
  return { name: begun[1], argsText };
}
