/** Exit code of a command after an error: 1 failed, 2 bad input, 3 not found, 4 request refused, 5 unreachable. */
export type ErrorExitCode = 1 | 2 | 3 | 4 | 5;

/**
 * An error that is shown as one line, `CODE: message`: what failed, with the value, and what to do. Thrown by the client, the worker's
 * start and the command line. It never crosses Temporal, where the `type` of a failure is compared instead.
 */
export class PerdureError extends Error {
  override readonly name = 'PerdureError';
  readonly code: string;
  readonly exitCode: ErrorExitCode;

  constructor(code: string, message: string, exitCode: ErrorExitCode, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
  }
}
