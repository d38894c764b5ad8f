/**
 * What `retry-after-ms`, or else `retry-after` (seconds or a date), asks for: milliseconds, unclamped, 0 for a date that has passed;
 * undefined when it is absent or nonsense. Never throws.
 */
export function retryAfterMs(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const text = headers.get('retry-after') ?? '';
  const seconds = count(text);
  return count(headers.get('retry-after-ms') ?? '') ?? (seconds === undefined ? untilDate(text, now) : seconds * 1_000);
}

function count(text: string): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Only with letters is it a date: `-5` would be one too. */
function untilDate(text: string, now: number): number | undefined {
  const date = /[a-z]/iu.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
