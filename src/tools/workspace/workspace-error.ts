/** The error codes of workspace tools. The message for the model starts with the code. */
export type WorkspaceErrorCode =
  | 'NO_WORKSPACE'
  | 'OUTSIDE_WORKSPACE'
  | 'DENIED'
  | 'NOT_FOUND'
  | 'NOT_A_FILE'
  | 'NOT_A_FOLDER'
  | 'NOT_TEXT'
  | 'READ_ONLY'
  | 'HARD_LINK'
  | 'TOO_LARGE'
  | 'NO_SPACE'
  | 'BAD_PATH'
  | 'BAD_OFFSET'
  | 'BAD_PATTERN'
  | 'PATTERN_TOO_SLOW'
  | 'TEXT_NOT_FOUND'
  | 'TEXT_NOT_UNIQUE'
  | 'BAD_PATCH'
  | 'PATCH_FAILED'
  | 'FAILED';

/** An error of a workspace tool, for the model: `CODE: what failed; what to do`. Contains no path outside the workspace. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly code: WorkspaceErrorCode;

  constructor(code: WorkspaceErrorCode, sentence: string, options?: { readonly cause?: unknown }) {
    super(`${code}: ${sentence}`, options);
    this.code = code;
  }
}

/** The code and the text for each system error. */
const SENTENCES: ReadonlyMap<string, readonly [WorkspaceErrorCode, string]> = new Map([
  ['ENOENT', ['NOT_FOUND', 'does not exist']],
  ['ENOTDIR', ['NOT_A_FOLDER', 'has a part that is not a folder']],
  ['EISDIR', ['NOT_A_FILE', 'is a folder']],
  ['EACCES', ['READ_ONLY', 'cannot be opened by this worker']],
  ['EPERM', ['READ_ONLY', 'cannot be changed by this worker']],
  ['EROFS', ['READ_ONLY', 'is on a read-only disk']],
  ['ENOSPC', ['NO_SPACE', 'could not be written: the disk is full']],
  ['EDQUOT', ['NO_SPACE', 'could not be written: the disk quota is exceeded']],
  ['ELOOP', ['NOT_A_FILE', 'is a symbolic link that cannot be followed']],
  ['ENAMETOOLONG', ['BAD_PATH', 'is too long for this disk']],
  ['ENXIO', ['NOT_A_FILE', 'is a pipe, socket or device']],
]);

/** Converts an error to a WorkspaceError for `path`, as the model wrote it. Returns a WorkspaceError unchanged. */
export function asWorkspaceError(error: unknown, path: string): WorkspaceError {
  if (error instanceof WorkspaceError) return error;
  const errno = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const [code, sentence] = SENTENCES.get(errno) ?? ['FAILED', `could not be used (${errno})`];
  return new WorkspaceError(code, `${shown(path)} ${sentence}`, { cause: error });
}

/** Formats a path for a message: quoted, on one line, at most 200 characters. */
export function shown(path: string): string {
  return JSON.stringify(path.length <= 200 ? path : `${path.slice(0, 200)}…`);
}
