import { RequestError } from '@agentclientprotocol/sdk';
import { PerdureError } from '../../contracts/perdure-error.js';
import { redact } from '../../contracts/text/redact.js';

const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

/** Any error as the error of a request: `CODE: message`, with the code in `data`. */
export function acpError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const { code, message, exitCode } = error instanceof PerdureError ? error : { code: 'INTERNAL', message: String(error), exitCode: 1 };
  return new RequestError(exitCode === 2 ? INVALID_PARAMS : INTERNAL, redact(`${code}: ${message}`), { code });
}

/** The error for a session that is not open here, or not there at all. */
export function unknownSession(sessionId: string): RequestError {
  return RequestError.sessionNotFound(sessionId.slice(0, ID_CHARS_SHOWN));
}

const ID_CHARS_SHOWN = 200;
