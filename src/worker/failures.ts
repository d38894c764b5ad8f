import { ApplicationFailure } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { FAILURES, type FailureType } from '../contracts/failures.js';
import { cutMiddle } from '../contracts/text/redact.js';
import { parseWorkerIdentity } from '../process/process-identity.js';

/**
 * The failure of an activity whose worker process is dead. `details` come from its last heartbeat. `cause`: how the process died, if known.
 * The workflow decides on a retry by the tool's effect.
 */
export function workerDied(identity: string, details: readonly unknown[], cause?: string): ApplicationFailure {
  const died = `${describeWorker(identity)} died${cause === undefined ? '' : ` (${cause})`} before it reported a result`;
  return failure('Worker.Died', `${died}; the run handles this call as failed`, details);
}

/** The process and host of a worker, as people know them. */
function describeWorker(identity: string): string {
  const owner = parseWorkerIdentity(identity);
  return owner ? `worker process ${owner.pid} on ${owner.host}` : `worker ${identity}`;
}

function failure(type: FailureType, message: string, details: readonly unknown[]): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: cutMiddle(message, PAYLOAD_LIMITS.failureMessageBytesMax),
    nonRetryable: !FAILURES[type].retryable,
    details: [...details],
  });
}
