const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?`;
const ZONE = String.raw`\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})`;

/** What says itself that it is volatile: "durationMs": 12, elapsed=1.2, "requestId": "req_1", Nov 21 13:38. */
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

/** node[4711]: */
const DAEMON_PID = String.raw`(?<=\w)\[\d+\](?=:)`;

/** Grouped by how they begin and without the flag `u`, whose case folding is several times slower on large outputs. */
const VOLATILE = new RegExp(
  [...NAMED, String.raw`\b(?=\d)(?:${NUMBERS.join('|')})`, String.raw`\b(?=[0-9a-f]{8})(?:${IDS.join('|')})`, DAEMON_PID].join('|'),
  'gi',
);

/**
 * A tool's text with times, durations, process ids and random ids put aside, so that two results that differ only in those are the
 * same. Counts, sizes and percentages stay: they are progress. Linear in the text; never throws.
 */
export function stripVolatile(text: string): string {
  return text.replaceAll(VOLATILE, '~');
}
