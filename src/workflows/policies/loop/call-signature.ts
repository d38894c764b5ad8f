import { LOOP_LIMITS } from '../../../contracts/constants/limits.js';
import { canonicalJson, hashJson } from '../../../contracts/digest.js';
import type { JsonValue, Message, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';

/** 128 bits: collisions are practically impossible, and a memory of 60 turns stays small. */
const SIGNATURE_CHARS = 32;

/** The identity of a call. `argsText` counts only when there are no parsed arguments, as for invalid JSON. */
type Callable = Pick<ToolCallPart, 'name' | 'args' | 'argsText'>;

/** The signature of a call: its tool and its whole arguments, in any key order. 32 hex digits. */
export function callSignature(call: Callable): string {
  return signatureOf([call.name, argumentsOf(call)]);
}

/** The signature of the calls of one turn, in any order. 32 hex digits. */
export function turnSignature(calls: readonly Callable[]): string {
  return signatureOf(calls.map(callSignature).toSorted());
}

/**
 * The signature of the calls of one turn without slight differences: digits, case, spaces, punctuation and volatile fields. Long arguments
 * are compared exactly.
 */
export function turnShape(calls: readonly Callable[]): string {
  return signatureOf(calls.map(callShape).toSorted());
}

/**
 * The signature of a turn's results, in any order and without volatile fields. Results that differ only in a time, a duration, a process
 * id or a random id have the same signature.
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

/** Of ASCII characters only letters count; all others count, because Unicode versions differ in what a letter is. */
function callShape(call: Callable): string {
  const text = canonicalJson(argumentsOf(call));
  if (text.length > LOOP_LIMITS.shapeCharsMax) return callSignature(call);
  const letters = stripVolatile(text)
    .toLowerCase()
    .replaceAll(/[^a-z\u0080-\uffff]+/g, '');
  return signatureOf([call.name, letters]);
}

/** An artifact counts by its beginning, because its reference is a hash over volatile fields too. */
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

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?`;
const ZONE = String.raw`\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})`;

/** Fields with a volatile name or format: "durationMs": 12, elapsed=1.2, "requestId": "req_1", Nov 21 13:38. */
const NAMED = [
  String.raw`"?\b(?:duration|elapsed|took|latency|uptime|timestamp|ppid|pid)[A-Za-z_]{0,12}"?\s?[:=#]?\s?"?\d+(?:[.,]\d+)?`,
  String.raw`"?\b(?:request|trace|span|correlation|invocation)[_-]?id"?\s?[:=]\s?"?[\w.:-]{1,200}`,
  String.raw`\b${MONTH} {1,2}\d{1,2}(?:,? \d{4})?(?: ${CLOCK})?(?: \d{4})?\b`,
];

const NUMBERS = [
  // 2026-11-21T13:38:40.123Z, 21/11/2026 13:38, 21 Nov 2026 13:38:40 GMT
  String.raw`\d{4}-\d{2}-\d{2}(?:[T ]${CLOCK}(?:${ZONE})?)?`,
  String.raw`\d{1,4}/\d{1,2}/\d{2,4}\b(?:,? ${CLOCK})?`,
  String.raw`\d{1,2} ${MONTH} \d{4}(?: ${CLOCK}(?:${ZONE})?)?`,
  // a clock has seconds or AM/PM: `12:30` alone is a line and a column
  String.raw`(?<![.:])\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?![\w:])`,
  String.raw`\d{1,2}:\d{2}\s?[ap]\.?m\b`,
  // seconds, milliseconds and microseconds since 1970
  String.raw`1[5-9]\d{8}(?:\d{3}|\d{6})?(?:\.\d+)?\b`,
  // 12 ms, 1.2s, 1m 20s
  String.raw`(?:\d+ ?h ?)?(?:\d+ ?m(?:in)? ?)?\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?|minutes?|min|hours?)\b`,
  // an address in memory
  String.raw`0x[0-9a-f]{4,}\b`,
];

/** Uuids, and ids of eight hexadecimal digits and more; digits alone are a count. */
const IDS = [String.raw`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, String.raw`(?=[0-9]{0,40}[a-f])[0-9a-f]{8,}\b`];

/** The process id in `node[4711]:`. */
const DAEMON_PID = String.raw`(?<=\w)\[\d+\](?=:)`;

/** Grouped by their beginning, and without the flag `u`, whose case folding is several times slower on large outputs. */
const VOLATILE = new RegExp(
  [...NAMED, String.raw`\b(?=\d)(?:${NUMBERS.join('|')})`, String.raw`\b(?=[0-9a-f]{8})(?:${IDS.join('|')})`, DAEMON_PID].join('|'),
  'gi',
);

/**
 * Replaces times, durations, process ids and random ids in a tool's text, so that results that differ only in those are equal. Counts,
 * sizes and percentages stay, because they show progress. Linear in the text; never throws.
 */
function stripVolatile(text: string): string {
  return text.replaceAll(VOLATILE, '~');
}
