const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?`;
const ZONE = String.raw`\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})`;

/** What differs between two runs of the same command though nothing has changed. Every quantifier is bounded or stands alone: linear. */
const VOLATILE = [
  // values that name themselves: "durationMs": 12, elapsed=1.2, "requestId": "req_1"
  String.raw`"?\b(?:duration|elapsed|took|latency|uptime|timestamp|ppid|pid)[A-Za-z_]{0,12}"?\s?[:=#]?\s?"?\d+(?:[.,]\d+)?`,
  String.raw`"?\b(?:request|trace|span|correlation|invocation)[_-]?id"?\s?[:=]\s?"?[\w.:-]{1,200}`,
  // 2026-11-21T13:38:40.123Z, 2026-11-21, 21/11/2026, Nov 21 13:38, Sat, 21 Nov 2026 13:38:40 GMT
  String.raw`\b\d{4}-\d{2}-\d{2}(?:[T ]${CLOCK}(?:${ZONE})?)?`,
  String.raw`\b\d{1,4}/\d{1,2}/\d{2,4}\b(?:,? ${CLOCK})?`,
  String.raw`\b${MONTH} {1,2}\d{1,2}(?:,? \d{4})?(?: ${CLOCK})?(?: \d{4})?\b`,
  String.raw`\b\d{1,2} ${MONTH} \d{4}(?: ${CLOCK}(?:${ZONE})?)?`,
  // a clock has seconds or AM/PM: `12:30` alone is a line and a column
  String.raw`(?<![\w:.])\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?![\w:])`,
  String.raw`\b\d{1,2}:\d{2}\s?[AaPp]\.?[Mm]\b`,
  // seconds, milliseconds and microseconds since 1970
  String.raw`\b1[5-9]\d{8}(?:\d{3}|\d{6})?(?:\.\d+)?\b`,
  // 12 ms, 1.2s, 1m 20s
  String.raw`\b(?:\d+ ?h ?)?(?:\d+ ?m(?:in)? ?)?\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?|minutes?|min|hours?)\b`,
  // uuids, object ids, addresses
  String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
  String.raw`\b0x[0-9a-f]{4,}\b`,
  String.raw`\b(?=[0-9]{0,40}[a-f])[0-9a-f]{8,}\b`,
  // node[4711]:
  String.raw`(?<=\w)\[\d+\](?=:)`,
];

const ANY_VOLATILE = new RegExp(VOLATILE.join('|'), 'giu');

/**
 * A tool's text with times, durations, process ids and random ids put aside, so that two results that differ only in those are the
 * same. Counts, sizes and percentages stay: they are progress. Never throws.
 */
export function stripVolatile(text: string): string {
  return text.replaceAll(ANY_VOLATILE, '~');
}
