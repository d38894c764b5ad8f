import {
  isGrpcCancelledError,
  isGrpcServiceError,
  ServiceError,
  type WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { type ErrorExitCode, PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { cutText, redact } from '../../contracts/text/redact.js';

/** The gRPC status codes that map to different errors (https://grpc.io/docs/guides/status-codes/). */
const GRPC = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The data of a request, for its error message. */
export interface RequestSubject {
  readonly address: string;
  readonly namespace: string;
  readonly tls: boolean;
  readonly runId?: string;
}

/** The error for an unknown run ID. */
function runNotFound(runId: string, namespace: string): PerdureError {
  return new PerdureError('RUN_NOT_FOUND', `no run ${echoValue(runId)} in namespace ${namespace}; list runs with 'perdure ls'`, 3);
}

/** The error for a signal or update to a closed run. */
export function runClosed(runId: string, status: string): PerdureError {
  return new PerdureError('RUN_CLOSED', `run ${runId} is ${status}; continue it with 'perdure continue ${runId}'`, 4);
}

/** The server's refusal of a signal to a run that was sent as many as the server allows (10,000 by default). */
const SIGNAL_LIMIT = /limit for signal events/u;

/** The error for a server that does not answer. */
export function unreachable(subject: Pick<RequestSubject, 'address' | 'tls'>, cause?: unknown): PerdureError {
  const mode = subject.tls ? 'on' : 'off';
  return new PerdureError(
    'TEMPORAL_UNREACHABLE',
    `${subject.address} (tls=${mode}): no answer; check that the server is running and that the TLS setting is right`,
    5,
    {
      cause,
    },
  );
}

/** The error for a missing or busy worker: the server answers, the worker does not. */
export function noWorker(taskQueue: string, consequence: string): PerdureError {
  return new PerdureError('NO_WORKER', `no worker polls queue ${taskQueue} (checked 5 s); ${consequence}`, 5);
}

/**
 * The error for a request that no worker answered, because the workflow task before it was not completed. Undefined for another error. The
 * server does not say whether the workers were lost or the task fails.
 */
export function unfinishedTask(error: unknown, consequence: string): PerdureError | undefined {
  if (grpcCode(error) !== GRPC.failedPrecondition || !(error instanceof Error)) return undefined;
  const text = `${error.message} ${grpcDetails(error)}`;
  if (/unexpected workflow task failure/iu.test(text)) {
    return new PerdureError('NO_WORKER', `the worker was lost during the request; ${consequence}`, 5);
  }
  // after three attempts
  if (!/workflow task in failed state/iu.test(text)) return undefined;
  const message = `no worker completed the last workflow task in several attempts (see the history in the Web UI); ${consequence}`;
  return new PerdureError('NO_WORKER', message, 5);
}

/** True if the request can be retried: the connection was lost or the server is starting. */
export function isConnectionLoss(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.unavailable || code === GRPC.deadlineExceeded || code === GRPC.unknown || code === GRPC.aborted;
}

/** True if a request reached its deadline, so that its delivery is unknown. The server may end it slightly before the client does. */
export function isTimeout(error: unknown, deadline: number): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || grpcCode(error) === GRPC.deadlineExceeded) return true;
  return grpcCode(error) === GRPC.cancelled && Date.now() >= deadline - DEADLINE_SLACK_MS;
}

const DEADLINE_SLACK_MS = 100;

/** True if the server reports that no worker has polled the task queue recently. */
export function isNoPoller(error: unknown): boolean {
  return grpcCode(error) === GRPC.failedPrecondition && /no poller|worker may be down/iu.test(grpcDetails(error));
}

/** True for a query that came before the first task of its execution: a run that starts or continues as new has none for a moment. */
export function isBeforeFirstTask(error: unknown): boolean {
  return grpcCode(error) === GRPC.failedPrecondition && /task is not scheduled yet/iu.test(grpcDetails(error));
}

/** True if this client aborted the request. */
export function isAborted(error: unknown): boolean {
  return isGrpcCancelledError(error) || (error instanceof Error && error.name === 'AbortError');
}

/** Converts an error of the Temporal client to a PerdureError. Returns a PerdureError, and an error that is not from a request, unchanged. */
export function toPerdureError(error: unknown, subject: RequestSubject): unknown {
  if (error instanceof PerdureError) return error;
  if (error instanceof NamespaceNotFoundError) {
    return new PerdureError('NAMESPACE_NOT_FOUND', `${error.namespace} does not exist at ${subject.address}`, 3, { cause: error });
  }
  if (error instanceof WorkflowNotFoundError) {
    return subject.runId === undefined ? error : runNotFound(subject.runId, subject.namespace);
  }
  const unfinished = unfinishedTask(error, 'send the request again');
  if (unfinished) return unfinished;
  const details = redact(cutText(grpcDetails(error), 500)).replaceAll(/\s+/gu, ' ');
  if (SIGNAL_LIMIT.test(details)) {
    const message = `run ${subject.runId ?? ''} was sent as many signals as the server allows; cancel it, or wait until it continues as new`;
    return new PerdureError('SIGNAL_LIMIT', message, 4, { cause: error });
  }
  switch (grpcCode(error)) {
    case undefined:
    case GRPC.cancelled:
      return error;
    case GRPC.unavailable:
    case GRPC.deadlineExceeded:
    case GRPC.unknown:
      return unreachable(subject, error);
    case GRPC.notFound:
      return new PerdureError('NAMESPACE_NOT_FOUND', `${subject.namespace} at ${subject.address}: ${details}`, 3, { cause: error });
    case GRPC.permissionDenied:
    case GRPC.unauthenticated:
      return new PerdureError('TEMPORAL_DENIED', `${subject.address} rejected the credentials: ${details}`, 4, { cause: error });
    default:
      return new PerdureError('TEMPORAL_REFUSED', details, 4, { cause: error });
  }
}

function grpcCode(error: unknown): number | undefined {
  return grpcError(error)?.code;
}

function grpcDetails(error: unknown): string {
  return grpcError(error)?.details ?? (error instanceof Error ? error.message : String(error));
}

function grpcError(error: unknown): { readonly code: number; readonly details: string } | undefined {
  if (isGrpcServiceError(error)) return error;
  return error instanceof ServiceError && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

/** The exit codes of refusals with their own error code. Any other refusal is `UPDATE_REFUSED`. */
const EXIT_CODES: ReadonlyMap<string, ErrorExitCode> = new Map([
  ['NO_SUCH_APPROVAL', 3],
  ['NO_SUCH_QUESTION', 3],
  ['BAD_ANSWER', 2],
  ['INBOX_FULL', 4],
  ['NO_SUCH_MESSAGE', 3],
  ['MESSAGE_IN_WORK', 4],
  ['SESSION_CLOSED', 4],
]);

/** The beginnings of refusals that name an earlier decision or answer. */
const EARLIER: ReadonlyMap<string, string> = new Map([
  ['already decided: ', 'ALREADY_DECIDED'],
  ['already answered: ', 'ALREADY_ANSWERED'],
]);

/** Converts the refusal of an update: `NO_SUCH_*` (3), `BAD_ANSWER` (2), `INBOX_FULL`, `MESSAGE_IN_WORK`, `SESSION_CLOSED` and `ALREADY_*` (4), else `UPDATE_REFUSED` (4). */
export function refusedUpdate(error: WorkflowUpdateFailedError): PerdureError {
  const { cause } = error;
  const message = cause?.message ?? error.message;
  const [, earlier] = [...EARLIER].find(([beginning]) => message.startsWith(beginning)) ?? [];
  if (earlier !== undefined) return new PerdureError(earlier, message, 4, { cause: error });
  const { code = '', text = '' } = /^(?<code>[A-Z_]+): (?<text>.+)$/su.exec(message)?.groups ?? {};
  const exitCode = EXIT_CODES.get(code);
  if (exitCode !== undefined) return new PerdureError(code, text, exitCode, { cause: error });
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return new PerdureError('UPDATE_REFUSED', `${type ?? 'refused'}: ${message}`, 4, { cause: error });
}
