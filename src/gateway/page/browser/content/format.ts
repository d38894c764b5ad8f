const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A number of tokens in short: `950`, `12.4k`, `1.2M`. */
export function tokensText(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${trimmed(count / 1_000)}k`;
  return `${trimmed(count / 1_000_000)}M`;
}

/** An amount of USD: cents, and more digits for less. */
export function costText(usd: number): string {
  return `$${usd.toFixed(usd === 0 || usd >= 1 ? 2 : 4)}`;
}

/** A duration with its largest unit: `340 ms`, `2.5 s`, `3 min`, `4 h`. */
export function durationText(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${trimmed(ms / SECOND)} s`;
  return ms < HOUR ? `${Math.round(ms / MINUTE)} min` : `${trimmed(ms / HOUR)} h`;
}

/** How long ago a time was: `now`, `5 min ago`, `3 h ago`, else its date. */
export function agoText(time: string, now: number): string {
  const ms = now - Date.parse(time);
  if (Number.isNaN(ms)) return time;
  if (ms < MINUTE) return 'now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  return ms < DAY ? `${Math.floor(ms / HOUR)} h ago` : time.slice(0, 10);
}

/** A status in words: `loop detected` for `loop_detected`. */
export function statusText(status: string): string {
  return status.replaceAll('_', ' ');
}

function trimmed(number: number): string {
  return number.toFixed(1).replace(/\.0$/u, '');
}
