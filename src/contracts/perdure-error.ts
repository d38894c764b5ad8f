/** How a command ends after an error: 1 failed · 2 bad input · 3 not found · 4 the request was refused · 5 unreachable. */
export type ErrorExitCode = 1 | 2 | 3 | 4 | 5;

/**
 * An error that a person is told as one line, `CODE: message`: what failed, with which id, and what to do next.
 * Thrown by client, worker set-up and command line; never crosses Temporal (there a failure's `type` is compared).
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
