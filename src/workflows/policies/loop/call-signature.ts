import { LOOP_LIMITS } from '../../../contracts/constants/limits.js';
import { canonicalJson, hashJson } from '../../../contracts/digest.js';
import type { JsonValue, Message, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import { stripVolatile } from '../strip-volatile.js';

/** 128 bits: no two calls of a run meet by chance, and a memory of 60 turns stays small. */
const SIGNATURE_CHARS = 32;

/** What makes a call the same call. `argsText` counts only where there are no arguments but it, as with text that is no JSON. */
type Callable = Pick<ToolCallPart, 'name' | 'args' | 'argsText'>;

/** Names a call by its tool and the whole of its arguments, whatever the order of their keys. 32 hex digits. */
export function callSignature(call: Callable): string {
  return signatureOf([call.name, argumentsOf(call)]);
}

/** Names the calls of one turn, whatever their order. 32 hex digits. */
export function turnSignature(calls: readonly Callable[]): string {
  return signatureOf(calls.map(callSignature).toSorted());
}

/**
 * Names the calls of one turn with slight differences put aside: digits, case, spaces, punctuation and what stripVolatile knows.
 * Long arguments are compared exactly.
 */
export function turnShape(calls: readonly Callable[]): string {
  return signatureOf(calls.map(callShape).toSorted());
}

/**
 * Names what a turn's calls gave, whatever the order of the results: what the model reads of them, without volatile fields. So a
 * result that differs only in a time, a duration, a process id or a random id is the same.
 */
export function resultSignature(messages: readonly Message[]): string {
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_result'));
  return signatureOf(results.map(oneResultSignature).toSorted());
}

function argumentsOf({ args, argsText }: Callable): JsonValue {
  return argsText !== undefined && hasNoFields(args) ? argsText : args;
}

function hasNoFields(args: JsonValue): boolean {
  return args === null || typeof args !== 'object' || Object.keys(args).length === 0;
}

/** Of ASCII only letters count, beyond it everything does: which characters are letters differs between versions of Unicode. */
function callShape(call: Callable): string {
  const text = canonicalJson(argumentsOf(call));
  if (text.length > LOOP_LIMITS.shapeCharsMax) return callSignature(call);
  const letters = stripVolatile(text)
    .toLowerCase()
    .replaceAll(/[^a-z\u0080-\uffff]+/g, '');
  return signatureOf([call.name, letters]);
}

/** An artifact counts by its beginning: its reference is the hash of a text with the volatile fields still in it. */
function oneResultSignature({ isError, parts }: ToolResultPart): string {
  return signatureOf([
    isError,
    ...parts.map((part) => {
      if (part.type === 'text') return stripVolatile(part.text);
      return part.type === 'artifact' ? stripVolatile(part.head) : part;
    }),
  ]);
}

function signatureOf(value: unknown): string {
  return hashJson(value).slice(0, SIGNATURE_CHARS);
}
