import { z } from 'zod';

/** OpenRouter tells the time of the next reset in the body alone, in milliseconds since 1970. */
const WithReset = z.object({ metadata: z.object({ headers: z.object({ 'X-RateLimit-Reset': z.coerce.number() }) }) });

/** `7.66s`, `7m54.5s`, `20ms`, `26 seconds`, behind the words that OpenAI, Azure, Groq and Gemini put before it. */
const WAIT =
  /(?:try again|retry) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)(?![a-z]) ?){1,4})/iu;
const STEP = /(\d+(?:\.\d+)?) ?(ms|mil|s|m|h)/giu;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, mil: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** What a server that has no header for it says to wait: milliseconds, rounded up, unclamped; undefined where it says nothing. Never throws. */
export function toldWaitMs(bodies: readonly object[], message: string, now: number): number | undefined {
  const resets = bodies.flatMap((body) => WithReset.safeParse(body).data?.metadata.headers['X-RateLimit-Reset'] ?? []);
  const reset = resets.find((at) => Number.isFinite(at) && at > now);
  return reset === undefined ? waitIn(message) : reset - now;
}

function waitIn(message: string): number | undefined {
  const text = WAIT.exec(message)?.[1];
  if (text === undefined) return undefined;
  const steps = [...text.matchAll(STEP)].map(([, count, unit = '']) => Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0));
  return Math.ceil(steps.reduce((sum, step) => sum + step, 0));
}
