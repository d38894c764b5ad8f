import { PerdureError } from '../../../contracts/perdure-error.js';
import { redact } from '../../../contracts/text/redact.js';

/** A refusal with its HTTP status. Thrown by the gateway; its code and message are the answer. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The statuses of errors whose exit code tells another one. */
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['MESSAGE_TOO_LARGE', 413],
  ['INBOX_FULL', 429],
  ['QUEUE_FULL', 429],
  // what the gateway itself may not do, or cannot reach
  ['NAMESPACE_NOT_FOUND', 503],
  ['TEMPORAL_DENIED', 503],
  ['TEMPORAL_REFUSED', 503],
]);

const STATUS_BY_EXIT_CODE = { 1: 500, 2: 422, 3: 404, 4: 409, 5: 503 } as const;

/** The answer to any error: never a stack trace, a key or the address of another server. */
export function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof PerdureError) return ofPerdure(error);
  return ofFramework(error) ?? new HttpError(500, 'INTERNAL', 'the request could not be answered');
}

/** True for an error that passes: no worker answers, the Temporal server is away, or it was sent too much. The same request may succeed. */
export function isPassing(error: unknown): boolean {
  const { status } = httpErrorOf(error);
  return status === 503 || status === 429;
}

/** True if the server has no such run, or the caller may not see it. */
export function isNoSuchRun(error: unknown): boolean {
  return httpErrorOf(error).code === 'RUN_NOT_FOUND';
}

function ofPerdure({ code, message, exitCode }: PerdureError): HttpError {
  const status = STATUS_BY_CODE.get(code) ?? STATUS_BY_EXIT_CODE[exitCode];
  const isOfServer = status === 503 && code !== 'NO_WORKER';
  return new HttpError(status, code, isOfServer ? 'the Temporal server cannot be used now; try again' : redact(message));
}

/** The errors of the HTTP framework that a request causes. */
function ofFramework(error: unknown): HttpError | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HttpError(413, 'BODY_TOO_LARGE', 'the body is too large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HttpError(415, 'BAD_CONTENT_TYPE', 'send the body as Content-Type: application/json, in UTF-8');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpError(400, 'BAD_BODY', 'the body does not have the length that its header names');
    case 'FST_ERR_BAD_URL':
      return new HttpError(400, 'BAD_URL', 'the path is not correctly encoded');
    default:
      return isOfRequest(error) ? new HttpError(400, 'BAD_REQUEST', 'the request is malformed') : undefined;
  }
}

/** True for any other error with a status of the client's side, such as a method without the headers that it needs. */
function isOfRequest(error: unknown): boolean {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? Number(error.statusCode) : 0;
  return status >= 400 && status < 500;
}

/** The same for a run that does not exist and for one of another tenant. */
export function noSuchRun(id: string): HttpError {
  return new HttpError(404, 'RUN_NOT_FOUND', `no run ${JSON.stringify(id.slice(0, 200))}`);
}
