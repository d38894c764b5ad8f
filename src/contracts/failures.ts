/**
 * Every failure type that crosses a process boundary. `retryable`: Temporal retries it, three attempts in all. Recovery and fail-over by
 * the workflow are separate from that.
 */
export const FAILURES = {
  /** Status 429. The next attempt waits for Retry-After, else for the time given in the body. */
  'Model.RateLimited': { retryable: true },
  /** Status 5xx, or the provider reports an overload. */
  'Model.Overloaded': { retryable: true },
  /** No first byte within `firstByteMs`, or no end within `totalMs`. */
  'Model.Timeout': { retryable: true },
  /** The stream was cut. A truncated stream is never an answer. */
  'Model.StreamTruncated': { retryable: true },
  /** No byte within `idleMs`. */
  'Model.StreamIdle': { retryable: true },
  /** The stream had no content. The next model is called; without one, the run repeats the request up to 3 times in a row. */
  'Model.EmptyStream': { retryable: true },
  /** The response does not follow the wire format, or it reports a tool call and contains none. */
  'Model.BadResponse': { retryable: true },
  /** No connection. The next model is called; without one, the run waits up to 5 minutes. */
  'Model.Unreachable': { retryable: true },
  /** Status 401 or 403, or a missing key. The next key is used, then the next model. */
  'Model.Auth': { retryable: false },
  /** Status 402, or a spent account. The next key is used, then the next model. */
  'Model.Quota': { retryable: false },
  /** Status 404, or a provider that the worker's config does not have. The next key is used, then the next model. */
  'Model.NotFound': { retryable: false },
  /** The provider refused the request. */
  'Model.BadRequest': { retryable: false },
  /** The request is longer than the context window. The transcript is shortened, twice at most. Then the run fails. */
  'Model.ContextOverflow': { retryable: false },
  /** A content filter of the provider refused the request. */
  'Model.ContentFilter': { retryable: false },
  /** The provider refused the JSON of the request or of a tool call. The model gets up to 3 corrections in a row. */
  'Model.BadJson': { retryable: false },
  /** Thinking was cut at `thinkingTokensMax`. The model gets up to 2 corrections in a row. */
  'Model.ThinkingBudget': { retryable: false },
  /** All models and keys of a run failed. With `fallbackOnAuth: false`, only other keys of the same provider are used after a refused key. The message lists each attempt. */
  'Model.AllFailed': { retryable: false },
  /** The child process of the agent crashed, broke the protocol or timed out. The message has the end of its output. */
  'Executor.Failed': { retryable: false },
  /** A hook blocked the run, a request or an answer. */
  'Hook.Blocked': { retryable: false },
  /** A hook aborted the run. */
  'Hook.Aborted': { retryable: false },
  /** A compaction strategy failed. It never ends a run, because the next strategy is tried. */
  'Compaction.Failed': { retryable: false },
  /** The worker of an activity died. The effect of a call decides whether it runs again. */
  'Worker.Died': { retryable: false },
  /** The worker of an activity shut down, or stopped the call because it had lost contact with the server. The effect of a call decides whether it runs again. */
  'Worker.Shutdown': { retryable: false },
  /** The disk of the worker's state folder, or of its artifacts, is full. The call was not started. It starts when there is room. */
  'Worker.DiskFull': { retryable: true },
  /** A transcript reference is outdated. A fresh one is sent, up to 3 times. */
  'Transcript.Moved': { retryable: false },
  /** A worker could not fetch the transcript. A fresh reference is sent, up to 3 times. */
  'Transcript.Unavailable': { retryable: false },
  /** The input is invalid: `BAD_INPUT`, `EMPTY_MESSAGE`, `UNKNOWN_PRICE` or `SETUP_TOO_LARGE`. */
  'Input.Invalid': { retryable: false },
  /** An MCP server that the run requires cannot be used. The message has the reason. */
  'Input.McpServer': { retryable: true },
  /** The config has no agent with this name. */
  'Input.UnknownAgent': { retryable: false },
  /** No model, no key for it, an unknown name, or a level of thinking that the model lacks (`BAD_THINKING`). */
  'Input.NoModel': { retryable: false },
  /** The workspace does not exist, or it contains a key file of the config (`SECRET_IN_WORKSPACE`). */
  'Input.Workspace': { retryable: false },
  /** Any other failure of a run. */
  'Run.Failed': { retryable: false },
  /** The run reached its turn limit, with `onMaxTurns: "error"`. */
  'Run.MaxTurns': { retryable: false },
  /** The loop guard ended the run, with `loop.onLoop: "error"`. */
  'Run.LoopDetected': { retryable: false },
  /** The answer did not match the output schema after 3 corrections. */
  'Run.OutputInvalid': { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

/** A failure type of the table. Compare this string across processes, never a class. */
export type FailureType = keyof typeof FAILURES;
