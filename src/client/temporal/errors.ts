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

/** gRPC status codes this folder tells apart (https://grpc.io/docs/guides/status-codes/). */
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

/** What a request was about, for its error message. */
export interface RequestSubject {
  readonly address: string;
  readonly namespace: string;
  readonly tls: boolean;
  readonly runId?: string;
}

/** No run has this id in the namespace. */
function runNotFound(runId: string, namespace: string): PerdureError {
  return new PerdureError('RUN_NOT_FOUND', `no run ${echoValue(runId)} in namespace ${namespace}; 'perdure ls' lists them`, 3);
}

/** The run has ended, so that nothing can be put into it. */
export function runClosed(runId: string, status: string): PerdureError {
  return new PerdureError('RUN_CLOSED', `run ${runId} is ${status}; go on from it with 'perdure continue ${runId}'`, 4);
}

/** Temporal did not answer. */
export function unreachable(subject: Pick<RequestSubject, 'address' | 'tls'>, cause?: unknown): PerdureError {
  const mode = subject.tls ? 'on' : 'off';
  return new PerdureError('TEMPORAL_UNREACHABLE', `${subject.address} (tls=${mode}): is the server up, and does it speak TLS or not?`, 5, {
    cause,
  });
}

/** Nothing answered in time although Temporal did: no worker, or a busy one. */
export function noWorker(taskQueue: string, consequence: string): PerdureError {
  return new PerdureError('NO_WORKER', `no worker polls queue ${taskQueue} (checked 5 s); ${consequence}`, 5);
}

/** True when a request may simply be sent again: the connection was lost or the server is starting. */
export function isConnectionLoss(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.unavailable || code === GRPC.deadlineExceeded || code === GRPC.unknown || code === GRPC.aborted;
}

/** True when a request ran into its deadline, so that nobody knows whether it arrived. The server may end it a moment before we do. */
export function isTimeout(error: unknown, deadline: number): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || grpcCode(error) === GRPC.deadlineExceeded) return true;
  return grpcCode(error) === GRPC.cancelled && Date.now() >= deadline - DEADLINE_SLACK_MS;
}

const DEADLINE_SLACK_MS = 100;

/** True when the server says at once that nobody has polled the queue for a while. */
export function isNoPoller(error: unknown): boolean {
  return grpcCode(error) === GRPC.failedPrecondition && /no poller|worker may be down/iu.test(grpcDetails(error));
}

/** True when we gave the request up ourselves. */
export function isAborted(error: unknown): boolean {
  return isGrpcCancelledError(error) || (error instanceof Error && error.name === 'AbortError');
}

/** Puts an error of the Temporal client into one line with a code. A PerdureError, and what is no request's, comes back as it is. */
export function toPerdureError(error: unknown, subject: RequestSubject): unknown {
  if (error instanceof PerdureError) return error;
  if (error instanceof NamespaceNotFoundError) {
    return new PerdureError('NAMESPACE_NOT_FOUND', `${error.namespace} at ${subject.address}`, 3, { cause: error });
  }
  if (error instanceof WorkflowNotFoundError) {
    return subject.runId === undefined ? error : runNotFound(subject.runId, subject.namespace);
  }
  const details = redact(cutText(grpcDetails(error), 500)).replaceAll(/\s+/gu, ' ');
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
      return new PerdureError('TEMPORAL_DENIED', `${subject.address} refused the credentials: ${details}`, 4, { cause: error });
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
