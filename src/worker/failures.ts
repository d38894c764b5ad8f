import { ApplicationFailure } from '@temporalio/common';
import { PAYLOAD_LIMITS } from '../contracts/constants/limits.js';
import { FAILURES, type FailureType } from '../contracts/failures.js';
import { cutText } from '../contracts/text/redact.js';

/** The failure of an activity whose worker process is dead. `details` come from its last heartbeat. The workflow decides on a retry by the tool's effect. */
export function workerDied(identity: string, details: readonly unknown[]): ApplicationFailure {
  return failure('Worker.Died', `worker ${identity} died before it reported a result`, details);
}

function failure(type: FailureType, message: string, details: readonly unknown[]): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: cutText(message, PAYLOAD_LIMITS.failureMessageBytesMax),
    nonRetryable: !FAILURES[type].retryable,
    details: [...details],
  });
}
