/**
 * Every failure type that crosses a process, with its retryability.
 * `retryable` is what Temporal may do by itself; recovery by the workflow is separate.
 */
export const FAILURES = {
  'Model.RateLimited': { retryable: true },
  'Model.Overloaded': { retryable: true },
  'Model.Timeout': { retryable: true },
  'Model.StreamTruncated': { retryable: true },
  'Model.StreamIdle': { retryable: true },
  'Model.EmptyStream': { retryable: true },
  'Model.BadResponse': { retryable: true },
  'Model.Unreachable': { retryable: true },
  'Model.Auth': { retryable: false },
  'Model.Quota': { retryable: false },
  'Model.NotFound': { retryable: false },
  'Model.BadRequest': { retryable: false },
  'Model.ContextOverflow': { retryable: false },
  'Model.ContentFilter': { retryable: false },
  'Model.BadJson': { retryable: false },
  'Model.ThinkingBudget': { retryable: false },
  'Model.AllFailed': { retryable: false },
  'Executor.Failed': { retryable: false },
  'Hook.Blocked': { retryable: false },
  'Hook.Aborted': { retryable: false },
  'Compaction.Failed': { retryable: false },
  'Worker.Died': { retryable: false },
  'Worker.Shutdown': { retryable: false },
  'Transcript.Moved': { retryable: false },
  'Transcript.Unavailable': { retryable: false },
  'Input.Invalid': { retryable: false },
  'Input.UnknownAgent': { retryable: false },
  'Input.NoModel': { retryable: false },
  'Input.Workspace': { retryable: false },
  'Run.Failed': { retryable: false },
  'Run.MaxTurns': { retryable: false },
  'Run.LoopDetected': { retryable: false },
  'Run.OutputInvalid': { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

/** A failure type of the table. Across processes this string is compared, never a class. */
export type FailureType = keyof typeof FAILURES;

/** Cuts a text to `bytesMax` bytes of UTF-8, with a mark when something is gone. Failure messages above 4 KiB make activities hang. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  const head = new TextDecoder().decode(bytes.subarray(0, Math.max(0, bytesMax - 16))).replace(/\uFFFD+$/u, '');
  return `${head}… [cut]`;
}

/** Replaces what looks like a key or bearer token. Keys are also kept out by construction; this is the last net. */
export function redact(text: string): string {
  return text
    .replaceAll(/\b(sk|pk|rk|key|xai|gsk)[-_][A-Za-z0-9_*-]{6,}/gu, '[redacted]')
    .replaceAll(/\b(authorization|x-api-key)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;]+/giu, '$1$2[redacted]')
    .replaceAll(/\b(bearer|x-api-key|authorization)\s+[^\s"',;[]+/giu, '$1 [redacted]');
}
