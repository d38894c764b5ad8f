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
