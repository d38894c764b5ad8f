import { z } from 'zod';

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

/** OpenRouter tells the time of the next reset in the body alone, in milliseconds since 1970. */
const WithReset = z.object({ metadata: z.object({ headers: z.object({ 'X-RateLimit-Reset': z.coerce.number() }) }) });

/** `7.66s`, `7m54.5s`, `20ms`, `26 seconds`, behind the words that OpenAI, Azure, Groq and Gemini put before it. */
const WAIT =
  /(?:try again|retry) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)(?![a-z]) ?){1,4})/iu;
const STEP = /(\d+(?:\.\d+)?) ?(ms|mil|s|m|h)/giu;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, mil: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** What a server that has no header for it says to wait: milliseconds, rounded up, unclamped; undefined where it says nothing. Never throws. */
export function retryDelayMs(bodies: readonly object[], message: string, now: number): number | undefined {
  const resets = bodies.flatMap((body) => WithReset.safeParse(body).data?.metadata.headers['X-RateLimit-Reset'] ?? []);
  const reset = resets.find((at) => Number.isFinite(at) && at > now);
  return reset === undefined ? waitIn(message) : reset - now;
}

function waitIn(message: string): number | undefined {
  const text = WAIT.exec(message)?.[1];
  if (text === undefined) return undefined;
  const steps = [...text.matchAll(STEP)].map(([, amount, unit = '']) => Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0));
  return Math.ceil(steps.reduce((sum, step) => sum + step, 0));
}
