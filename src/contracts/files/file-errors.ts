/** The code of an error of the system, such as `ENOENT`. Undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** True for an error of the system with this code, such as `ENOENT`. */
export function hasErrno(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** For `catch` of a file that may be missing: undefined if it is. Throws every other error again. */
export function unlessMissing(error: unknown): undefined {
  if (!hasErrno(error, 'ENOENT')) throw error;
}

/** For `catch` of a file that may be there already: undefined if it is. Throws every other error again. */
export function unlessThere(error: unknown): undefined {
  if (!hasErrno(error, 'EEXIST')) throw error;
}
