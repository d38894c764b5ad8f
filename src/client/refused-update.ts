import type { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type ErrorExitCode, PerdureError } from '../contracts/perdure-error.js';

/** Refusals that a run words with a code of their own, and how a command ends after them. Any other is `UPDATE_REFUSED`. */
const EXIT_CODES: ReadonlyMap<string, ErrorExitCode> = new Map([
  ['NO_SUCH_APPROVAL', 3],
  ['BAD_ANSWER', 2],
]);

const ALREADY_DECIDED = 'already decided: ';

/** Why a run refused an update: `NO_SUCH_APPROVAL` (3), `BAD_ANSWER` (2), `ALREADY_DECIDED` (4), else `UPDATE_REFUSED` (4). */
export function refusedUpdate(error: WorkflowUpdateFailedError): PerdureError {
  const { cause } = error;
  const message = cause?.message ?? error.message;
  if (message.startsWith(ALREADY_DECIDED)) return new PerdureError('ALREADY_DECIDED', message, 4, { cause: error });
  const { code = '', text = '' } = /^(?<code>[A-Z_]+): (?<text>.+)$/su.exec(message)?.groups ?? {};
  const exitCode = EXIT_CODES.get(code);
  if (exitCode !== undefined) return new PerdureError(code, text, exitCode, { cause: error });
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return new PerdureError('UPDATE_REFUSED', `${type ?? 'refused'}: ${message}`, 4, { cause: error });
}
