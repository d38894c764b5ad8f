/** Cuts a text to `bytesMax` bytes of UTF-8 and marks the cut. Failure messages above 4 KiB make activities hang. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  const head = new TextDecoder().decode(bytes.subarray(0, Math.max(0, bytesMax - 16))).replace(/\uFFFD+$/u, '');
  return `${head}… [cut]`;
}

/** The space for the mark of `cutMiddle`, with a number of any length. */
const MARK_BYTES = 40;

/**
 * Cuts the middle out of a text of more than `bytesMax` bytes of UTF-8, with a mark: the beginning of an error says what failed, and its
 * end often says why. A limit too small for the mark keeps the beginning alone.
 */
export function cutMiddle(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  const room = Math.floor((bytesMax - MARK_BYTES) / 2);
  if (room <= 0) return cutText(text, bytesMax);
  const decoder = new TextDecoder();
  const head = decoder.decode(bytes.subarray(0, room)).replace(/\uFFFD+$/u, '');
  const tail = decoder.decode(bytes.subarray(bytes.length - room)).replace(/^\uFFFD+/u, '');
  return `${head}… [${bytes.length - 2 * room} bytes cut] …${tail}`;
}

/** Replaces texts that look like a key or a bearer token. Keys are also excluded by design; this is the last safeguard. */
export function redact(text: string): string {
  return text
    .replaceAll(/\b(sk|pk|rk|key|xai|gsk)[-_][A-Za-z0-9_*-]{6,}/gu, '[redacted]')
    .replaceAll(/\b(authorization|x-api-key)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;]+/giu, '$1$2[redacted]')
    .replaceAll(/\b(bearer|x-api-key|authorization)\s+[^\s"',;[]+/giu, '$1 [redacted]');
}
