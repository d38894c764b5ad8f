/** Cuts a text to `bytesMax` bytes of UTF-8 and marks the cut. Failure messages above 4 KiB make activities hang. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  const head = new TextDecoder().decode(bytes.subarray(0, Math.max(0, bytesMax - 16))).replace(/\uFFFD+$/u, '');
  return `${head}… [cut]`;
}

/** Replaces texts that look like a key or a bearer token. Keys are also excluded by design; this is the last safeguard. */
export function redact(text: string): string {
  return text
    .replaceAll(/\b(sk|pk|rk|key|xai|gsk)[-_][A-Za-z0-9_*-]{6,}/gu, '[redacted]')
    .replaceAll(/\b(authorization|x-api-key)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;]+/giu, '$1$2[redacted]')
    .replaceAll(/\b(bearer|x-api-key|authorization)\s+[^\s"',;[]+/giu, '$1 [redacted]');
}
